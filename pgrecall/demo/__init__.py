"""`pgrecall demo`: a sample remembered and recalled by every road, in a throwaway folder."""
