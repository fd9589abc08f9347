from . import datasets as datasets
from .datasets import Dataset as Dataset

__version__: str
