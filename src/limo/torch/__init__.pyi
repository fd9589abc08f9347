from ._loss import MarginLoss as MarginLoss
