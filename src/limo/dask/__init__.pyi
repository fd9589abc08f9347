from ._cluster import executor as executor
from ._evaluate import evaluate as evaluate
from ._models import LIMOClassifier as LIMOClassifier
from ._models import LIMOClassifierCV as LIMOClassifierCV
from ._models import MarginClassifier as MarginClassifier
