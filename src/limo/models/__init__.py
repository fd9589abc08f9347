"""Learners, as scikit-learn estimators, and model files.

``__init__.pyi`` lists the public names. Each is loaded when it is first used, so that reading a
model file does not load every learner.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
