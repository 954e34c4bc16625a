"""Messages of the wire protocol, bytes in and messages out; no IO."""
