"""Reports: plain documents of results, and the HTML page of a document.

``__init__.pyi`` lists the public names. Each is loaded when it is first used: provenance needs
none of the libraries that pages need.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
