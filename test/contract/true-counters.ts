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

/** A deleted thread has no figures, and no calls. */
const spent = (amount: string) =>
  `(select coalesce(sum(${amount}), 0) from model_calls where thread_id = threads.id)`;
/** The beginning is enough to tell one message from another; within it spaces may differ. */
const BEGINNING = 3;
const SPACES = "' ' || char(9, 10, 13)";
const words = (roles: string, order: string) => `(select substr(trim(content, ${SPACES}), 1, ${BEGINNING})
  from messages where thread_id = threads.id and depth = 0 and silent = 0 and role in (${roles})
  and trim(content, ${SPACES}) <> '' order by created_at ${order} limit 1)`;
const shown = (column: string) => `substr(${column}, 1, ${BEGINNING})`;

const COUNTS = {
  message_count: '(select count(*) from messages where thread_id = threads.id)',
  open_steps: "(select count(*) from steps where thread_id = threads.id and state = 'open')",
  counted_a: counted('a'),
  counted_b: counted('b'),
  asked_a: asked('a'),
  asked_b: asked('b'),
  cost_pico: spent('cost_pico'),
  input_tokens: spent("json_extract(usage, '$.promptTokens')"),
  output_tokens: spent("json_extract(usage, '$.completionTokens')"),
};

/** Texts that follow from other rows: the beginnings of messages, and whether a thread waits. */
const TEXTS = {
  [shown('first_words')]: words("'user'", 'asc'),
  [shown('last_words')]: words("'user', 'assistant'", 'desc'),
  'waiting_since is null':
    "(coalesce(json_extract(waiting_for, '$.kind'), '') <> 'model' and status <> 'waiting')",
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
    for (const [kept, true_] of Object.entries(TEXTS)) {
      const differing = `select id, status, ${kept} as kept, ${true_} as actual from threads
        where id not like 'task/%' and ${kept} is not ${true_}`;
      const others = database.prepare(differing).all();
      if (others.length > 0) throw new Error(`${kept} is wrong: ${JSON.stringify(others.slice(0, 5))}`);
    }
  } finally {
    database.close();
  }
}
