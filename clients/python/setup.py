"""Names the licence: an expression (PEP 639) where setuptools knows it, from 77 on."""

import setuptools

IS_NEW = int(setuptools.__version__.split(".")[0]) >= 77
setuptools.setup(**{"license_expression" if IS_NEW else "license": "MIT"})
