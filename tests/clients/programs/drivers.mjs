// node-postgres, pg-cursor and postgres.js by one road; prints all they saw as JSON.
import { createRequire } from "node:module";
const require = createRequire(process.argv[2] + "/");
const pg = require("pg");
const Cursor = require("pg-cursor");
const postgres = require("postgres");

const { PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE, QUESTION, READY } = process.env;
const seen = [];
const columns = "rank, content, vector_rank, degraded";

const client = new pg.Client({
  host: PGHOST, port: +PGPORT, user: PGUSER, password: PGPASSWORD, database: PGDATABASE,
});
client.on("notice", (notice) => seen.push(["notice", notice.code, notice.message]));
await client.connect();
const answered = (result) => [
  result.command, result.rowCount, result.fields.map((one) => [one.name, one.dataTypeID]), result.rows,
];
seen.push(answered(await client.query(`select ${columns} from recall('${QUESTION}'${READY})`)));
for (let n = 0; n < 3; n++) {
  const named = { name: "by-text", text: `select ${columns} from recall($1${READY})`, values: [QUESTION] };
  seen.push(answered(await client.query(named)));
  seen.push(answered(await client.query(`select ${columns}, $2::int from recall($1${READY})`, [QUESTION, n])));
}
const cursor = client.query(new Cursor(`select content from recall($1${READY})`, [QUESTION]));
for (let rows; (rows = await cursor.read(1)).length; ) seen.push(rows);
await cursor.close();
await client.query("select nothing").catch((error) =>
  seen.push([error.code, error.message, error.position, error.severity]));
await client.query("do $$ begin raise notice 'hello'; end $$");
await client.end();
const wrong = new pg.Client({
  host: PGHOST, port: +PGPORT, user: PGUSER, password: "wrong", database: PGDATABASE,
});
await wrong.connect().catch((error) => seen.push([error.code, error.message]));

for (const prepare of [true, false]) {
  const sql = postgres({
    host: PGHOST.startsWith("/") ? undefined : PGHOST,
    path: PGHOST.startsWith("/") ? `${PGHOST}/.s.PGSQL.${PGPORT}` : undefined,
    port: +PGPORT, user: PGUSER, password: PGPASSWORD, database: PGDATABASE,
    max: 1, prepare, onnotice: (notice) => seen.push(notice.message),
  });
  const ready = sql.unsafe(READY);
  seen.push(await sql`select rank, content, vector_rank from recall(${QUESTION}${ready})`);
  await sql`select content from recall(${QUESTION}${ready})`.cursor(2, (rows) => { seen.push(rows); });
  seen.push(await Promise.all([1, 2, 3].map((n) =>
    sql`select ${n}::int as n, content from recall(${QUESTION}${ready}, k => 1)`)));
  seen.push((await sql`select content from recall(${QUESTION}${ready})`.describe()).types);
  await sql`select nothing`.catch((error) => seen.push([error.code, error.position]));
  await sql.end();
}
console.log(JSON.stringify(seen));
