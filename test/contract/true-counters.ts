/** Compares the counters in the rows of threads with what they count, in a SQLite store that a whole suite has used. */
import { DatabaseSync } from 'node:sqlite';

const counted = (
  side: string,
) => `(select count(*) from steps where thread_id = threads.id and side = '${side}'
  and step >= counted_from and kind in ('model', 'tools') and state <> 'abandoned')`;
/** Checked only while an execution is open: after its end the counter is not used. */
const asked = (side: string) => `(select case
  when exists (select 1 from executions where thread_id = threads.id and ended_at is null)
  then (select count(*) from steps where thread_id = threads.id and side = '${side}'
    and step >= asked_from and kind = 'model' and state in ('open', 'committed'))
  else asked_${side} end)`;

const COUNTS = {
  message_count: '(select count(*) from messages where thread_id = threads.id)',
  open_steps: "(select count(*) from steps where thread_id = threads.id and state = 'open')",
  counted_a: counted('a'),
  counted_b: counted('b'),
  asked_a: asked('a'),
  asked_b: asked('b'),
};

/** Throws if a counter differs from what it counts. */
export function requireTrueCounters(path: string): void {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const columns = Object.entries(COUNTS).map(([name, count]) => `${name}, ${count} as true_${name}`);
    const wrong = Object.keys(COUNTS).map((name) => `${name} <> true_${name}`);
    const sql = `select * from (select id, ${columns.join(', ')} from threads) where ${wrong.join(' or ')}`;
    const found = database.prepare(sql).all();
    if (found.length > 0) throw new Error(`Counters are wrong: ${JSON.stringify(found.slice(0, 5))}`);
  } finally {
    database.close();
  }
}
