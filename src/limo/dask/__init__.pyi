from ._cluster import executor as executor
from ._models import LIMOClassifier as LIMOClassifier
from ._models import MarginClassifier as MarginClassifier
