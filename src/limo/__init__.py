"""limo: multi-label learning, judged and explained through margins.

The public list stands in ``__init__.pyi``; a name is loaded when it is first used,
so that ``import limo`` costs next to nothing.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

__version__ = "0.1.0.dev0"
