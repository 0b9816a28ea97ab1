/** The counters in the rows of threads, beside what they stand for: of a SQLite store in which a suite has done all that a store can do. */
import { DatabaseSync } from 'node:sqlite';

const counted = (
  side: string,
) => `(select count(*) from steps where thread_id = threads.id and side = '${side}'
  and step >= counted_from and kind in ('model', 'tools') and state <> 'abandoned')`;
/** What an execution that has ended had asked is of no use any more. */
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

/** Throws where a counter is not what there is. */
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
