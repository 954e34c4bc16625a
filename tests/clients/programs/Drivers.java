// pgjdbc by one road: prints everything that it saw, a line each.
import java.sql.*;
import java.util.*;

public class Drivers {
  static void print(ResultSet rows) throws SQLException {
    ResultSetMetaData about = rows.getMetaData();
    List<String> lines = new ArrayList<>();
    while (rows.next()) {
      StringBuilder line = new StringBuilder();
      for (int n = 1; n <= about.getColumnCount(); n++)
        line.append(about.getColumnName(n)).append('=').append(rows.getString(n)).append('|');
      lines.add(line.toString());
    }
    for (String line : lines) System.out.println(line);
  }

  public static void main(String[] arguments) throws Exception {
    String question = System.getenv("QUESTION"), ready = System.getenv("READY");
    for (String mode : new String[] {"extended", "simple", "extendedForPrepared"}) {
      Properties p = new Properties();
      p.put("user", System.getenv("PGUSER"));
      p.put("password", System.getenv("PGPASSWORD"));
      p.put("sslmode", "disable");
      p.put("preferQueryMode", mode);
      String url = "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/"
          + System.getenv("PGDATABASE");
      try (Connection c = DriverManager.getConnection(url, p)) {
        String sql = "select rank, content, vector_rank from recall(?" + ready + ")";
        try (PreparedStatement s = c.prepareStatement(sql)) {
          if (!mode.equals("simple"))
            System.out.println(s.getParameterMetaData().getParameterCount());
          for (int n = 0; n < 7; n++) {  // the fifth becomes a statement of the server's
            s.setString(1, question);
            print(s.executeQuery());
          }
        }
        c.setAutoCommit(false);
        try (PreparedStatement s = c.prepareStatement("select content from recall(?" + ready + ")")) {
          s.setFetchSize(1);
          s.setString(1, question);
          print(s.executeQuery());
        }
        try (Statement s = c.createStatement()) {
          s.execute("create temp table kept (id int, said text)");
          print(s.executeQuery("select content from recall('" + question + "'" + ready + ", k => 1)"));
        }
        try (PreparedStatement s = c.prepareStatement("insert into kept values (?, ?)")) {
          for (int n = 0; n < 100; n++) {
            s.setInt(1, n);
            s.setString(2, "it's " + n);
            s.addBatch();
          }
          System.out.println(Arrays.stream(s.executeBatch()).sum());
        }
        try (Statement s = c.createStatement()) {
          s.executeQuery("select nothing");
        } catch (SQLException error) {
          System.out.println(error.getSQLState() + " " + error.getMessage());
        }
        c.rollback();
        DatabaseMetaData about = c.getMetaData();
        System.out.println(about.getDatabaseProductVersion() + c.getTransactionIsolation());
        print(about.getTables(null, "memory", "%", null));
        print(about.getColumns(null, "memory", "memories", "%"));
        print(about.getFunctions(null, "memory", "%"));
        print(about.getTypeInfo());
        print(about.getSchemas());
        print(about.getFunctionColumns(null, "memory", "recall", "%"));
        try (PreparedStatement s = c.prepareStatement("select remember(?, key => ?)")) {
          for (int n = 0; n < 5; n++) {  // a batch of texts, each with an embedding of its own
            s.setString(1, "a note of pgjdbc, number " + n);
            s.setString(2, "note " + n);
            s.addBatch();
          }
          try {
            System.out.println(s.executeBatch().length);
          } catch (SQLException error) {
            System.out.println(error.getSQLState() + " " + error.getMessage());
          }
        }
        c.rollback();
        org.postgresql.largeobject.LargeObjectManager large =
            c.unwrap(org.postgresql.PGConnection.class).getLargeObjectAPI();
        long oid = large.createLO();  // by the function call message
        try (org.postgresql.largeobject.LargeObject one = large.open(oid)) {
          one.write(new byte[100_000]);
          System.out.println(one.tell64());
        }
        c.rollback();
        c.setAutoCommit(true);
        if (!mode.equals("extended")) continue;
        try (Statement s = c.createStatement()) {
          s.setQueryTimeout(1);
          s.executeQuery("select pg_sleep(30)");
        } catch (SQLException error) {
          System.out.println(error.getSQLState());
        }
      }
    }
  }
}
