"""Learning and evaluation on Dask clusters; needs the extra ``limo-ml[dask]``.

``__init__.pyi`` lists the public names. Dask is imported when one of them is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
