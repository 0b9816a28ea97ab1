/**
 * A worker is killed while calls of one answer are under way side by side, in every combination of states: each is
 * settled for itself, and the history is that of an undisturbed run.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { hasStayed, orderStay } from '../support/fault-project.ts';
import { type Readers, readersOf } from '../support/fault-readers.ts';
import { killWorkers } from '../support/standing.ts';

/** Where a call is when its worker is killed: its body stands before its line, or behind it; or its end is stored. */
type State = 'begun' | 'written' | 'stored';

interface Case {
  readonly states: readonly [State, State, State];
  /**
   * Set if the worker dies at the end of the last one, which makes all of them history: right after that transaction, or
   * for children before it, when the last report has been delivered.
   */
  readonly atEnd?: true;
}

const CASES: readonly Case[] = [
  { states: ['begun', 'begun', 'begun'] },
  { states: ['written', 'written', 'written'] },
  { states: ['begun', 'written', 'stored'] },
  { states: ['stored', 'begun', 'written'] },
  { states: ['begun', 'stored', 'stored'] },
  { states: ['stored', 'stored', 'stored'], atEnd: true },
];

const TOOLS = ['peek', 'glance', 'runner'] as const;
type Tool = (typeof TOOLS)[number];

const ROWS = TOOLS.flatMap((tool) =>
  CASES.map((doom, n) => ({
    tool,
    ...doom,
    id: `${tool}${n}`,
    when: doom.states.join(', ') + (doom.atEnd ? ', at the end of the last' : ''),
  })),
);
type Row = (typeof ROWS)[number];

const linesOf = ({ id }: Row) => ['a', 'b', 'c'].map((call) => `${id}-${call}`);

/** How often a call wrote its line: what had written without its end being stored does so again. */
const WRITES: Readonly<Record<State, number>> = { begun: 1, written: 2, stored: 1 };

describe('a worker process killed with SIGKILL while three calls are side by side', () => {
  let cluster: Cluster;
  let readers: Readers;
  const threads = new Map<string, string>();

  beforeAll(async () => {
    cluster = await startCluster();
    readers = readersOf(cluster);
    await cluster.keep(1);
    for (const row of ROWS) threads.set(row.id, await bring(row));
    await killWorkers(cluster);
    await cluster.keep(1);
    for (const row of ROWS) {
      readers.letEnter(...linesOf(row));
      readers.letLeave(...linesOf(row));
    }
  }, 300_000);
  afterAll(() => cluster?.close());

  /** Brings the calls of a thread into their states. */
  async function bring(row: Row): Promise<string> {
    const { states, tool, atEnd } = row;
    const lines = linesOf(row);
    const at = (...wanted: State[]) => lines.filter((_, index) => wanted.includes(states[index] as State));
    const thread = await cluster.begin(`read ${tool} ${lines.join()}`, 'reader');
    await readers.haveBegun(...lines);
    readers.letEnter(...at('written', 'stored'));
    await readers.haveWritten(...at('written', 'stored'));
    // Behind the others, so that nothing is held that they need.
    const [last, ...before] = atEnd ? lines : [];
    if (last === undefined) readers.letLeave(...at('stored'));
    else {
      readers.letLeave(...before);
      await stored(thread, tool, before.length);
      const point = tool === 'runner' ? 'subagent_reported' : 'tool_committed';
      orderStay(cluster.folder, point);
      readers.letLeave(last);
      await eventually('the end of the last', () => hasStayed(cluster.folder, point));
      return thread;
    }
    await stored(thread, tool, at('stored').length);
    return thread;
  }

  /** Resolves once the ends of so many calls are stored. */
  const stored = (thread: string, tool: Tool, count: number) =>
    eventually(`${count} stored ends of ${thread}`, async () => {
      const logs = await cluster.store.events.getLogs(thread, { limit: 1000 });
      const states = logs.flatMap(({ type, data }) => {
        const { name, state } = data as { name?: string; state?: string };
        return type === 'tool_call' && name === tool ? [state] : [];
      });
      return states.filter((state) => state === 'finished' || state === 'done').length === count;
    });

  it.each(ROWS)('[runtime 5.1a] settles each for itself: $tool $when', async (row) => {
    const { id, tool, states } = row;
    const lines = linesOf(row);
    const thread = threads.get(id) as string;
    await cluster.client.waitForIdle(thread);
    const said = (line: string) => (tool === 'runner' ? `done ${line}` : `read ${line}`);
    expect(await cluster.transcript(thread)).toEqual([
      `user: read ${tool} ${lines.join()}`,
      `assistant:  -> ${tool}, ${tool}, ${tool}`,
      ...lines.map((line) => `tool ${tool} success: ${said(line)}`),
      `assistant: Answered "read ${tool} ${lines.join()}" after 3 tool results.`,
    ]);
    const children = await cluster.store.children.list(thread);
    expect(children).toHaveLength(tool === 'runner' ? 3 : 0);
    const written = [thread, ...children.map(({ threadId }) => threadId)].flatMap((each) =>
      cluster.ledger(each).filter((line) => lines.includes(line)),
    );
    // A child writes its line once more, with a tool that runs at most once.
    const own = tool === 'runner' ? 1 : 0;
    expect(lines.map((line) => written.filter((each) => each === line).length)).toEqual(
      states.map((state) => WRITES[state] + own),
    );
    const events = await cluster.store.events.read(thread, 0, 10_000);
    expect(events.filter(({ type }) => type === 'tool.result')).toHaveLength(3);
    expect(events.filter(({ type }) => type === 'tool.unknown')).toEqual([]);
  });
});
