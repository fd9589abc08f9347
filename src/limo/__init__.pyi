from . import datasets as datasets
from .datasets import Dataset as Dataset
from .datasets import describe as describe
from .datasets import read as read
from .datasets import write as write

__version__: str
