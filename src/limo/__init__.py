"""limo: multi-label learning, evaluated and explained through margins.

``__init__.pyi`` lists the public names. Each is loaded when it is first used, so that
``import limo`` is fast.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

__version__ = "0.1.0.dev0"
