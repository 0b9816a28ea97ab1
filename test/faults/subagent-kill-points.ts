/**
 * A worker dies at each place where something passes between a parent and its child (runtime §7, §8): each child is
 * created once, does its work once, and reports once.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Doom, type DoomedCluster, type Manner, startDoomed } from '../support/doomed-cluster.ts';
import { eventually } from '../support/eventually.ts';
import type { Cluster } from '../support/fault-cluster.ts';
import { isAide } from '../support/fault-family.ts';
import type { DeathPoint } from '../support/fault-project.ts';

const doomOf =
  (content: string) =>
  (point: DeathPoint, late = false): Doom => ({ content, point, late });
const delegates = doomOf('delegate 1');
const sends = doomOf('send 1');

/** `late`: the parent itself reaches the same place earlier. */
const AWAITED: [string, Doom][] = [
  ['before the child is made', delegates('subagent_begun')],
  ['after the child was made, before its workflow starts', delegates('subagent_created')],
  ['while its first message is taken', delegates('model_answered', true)],
  ['after a tool of the child, before its completion', delegates('tool_committed', true)],
  ['after the child told its status, before its tool has a result', delegates('subagent_status_told')],
  ['after the child ended and made its report', delegates('status_committed', true)],
  ['before the report is delivered', delegates('report_due')],
  [
    'after the report and its files were delivered, before the parent hears of it',
    delegates('report_delivered'),
  ],
  ['after the parent was signalled, before the thread of the child ends', delegates('report_signalled')],
  ['before the result is stored', delegates('subagent_reported')],
];

const SENT: [string, Doom][] = [
  ['after the child was made, before its workflow starts', sends('subagent_created')],
  ['before the report is delivered', sends('report_due')],
  ['after the report was delivered, before the parent hears of it', sends('report_delivered')],
];

const heardFirst = { before: (thread: string, cluster: Cluster) => heard(cluster, thread, 1) };

const ASKED: Doom = {
  ...sends('subagent_told'),
  ...heardFirst,
  next: async (thread, cluster) => `ask ${(await onlyChild(cluster, thread)).threadId} 2`,
  meanwhile: async (thread, cluster) => {
    const { threadId } = await onlyChild(cluster, thread);
    const said = () => cluster.transcript(threadId);
    await eventually('the child answers', async () => (await said()).includes('tool finish success: done 2'));
  },
};

const WHISPERED: Doom = { ...sends('relative_told'), ...heardFirst, next: async () => 'whisper 2' };

const CHILD = [
  'system: {"line":"1","files":["/attachments/in.txt"]}',
  'user: 1',
  'assistant:  -> write',
  'tool write success: wrote 1',
  'assistant:  -> progress',
  'tool progress success: The tool succeeded and returned nothing.',
  'assistant:  -> jot',
  'tool jot success: kept out',
  'assistant:  -> finish',
  'tool finish success: done 1',
];

export function describeSubagentKill(manner: Manner): void {
  let doomed: DoomedCluster;
  let cluster: Cluster;

  beforeAll(async () => {
    const dooms = [...[...AWAITED, ...SENT].map(([, doom]) => doom), ASKED, WHISPERED];
    doomed = await startDoomed({ manner, dooms, isWatched: isAide });
    cluster = doomed.cluster;
  });
  afterAll(() => doomed?.close());

  describe('a worker process killed with SIGKILL at an exchange between a parent and a blocking child', () => {
    it.each(AWAITED)('[AX-124] %s creates one child, one report and one result', async (_when, doom) => {
      const thread = await doomed.threadOf(doom);
      await cluster.client.waitForIdle(thread);
      const lines = await cluster.transcript(thread);
      expect(lines.slice(0, 5)).toEqual([
        'user: delegate 1',
        'assistant:  -> jot',
        'tool jot success: kept in',
        'assistant:  -> aide',
        'tool aide success: done 1',
      ]);
      expect(lines.slice(5)).toEqual(['assistant: Answered "delegate 1" after 2 tool results.']);
      const child = await onlyChild(cluster, thread);
      await eventually(
        'the child ends',
        async () => (await onlyChild(cluster, thread)).status === 'terminated',
      );
      // The paths of the files that the child received are its own.
      const said = (await cluster.transcript(child.threadId)).filter((line) => !line.startsWith('system: '));
      expect(said).toEqual(CHILD.slice(1));
      expect(cluster.ledger(child.threadId)).toEqual(['1']);
      const markers = ['subagent.created', 'subagent.status', 'subagent.returned', 'subagent.failed'];
      expect(await eventsOf(cluster, thread, ...markers)).toEqual([
        'subagent.created',
        'subagent.status',
        'subagent.returned',
      ]);
      const { messages } = await cluster.client.getMessages(thread, { limit: 100 });
      const refs = messages.find(({ name }) => name === 'aide')?.attachments ?? [];
      expect(refs).toHaveLength(1);
      expect(await readNote(cluster, thread, refs[0]?.path)).toBe('the note out');
    });
  });

  describe('a worker process killed with SIGKILL at an exchange between a parent and a non-blocking child', () => {
    it.each(SENT)('[runtime 8] %s queues one report', async (_when, doom) => {
      const thread = await doomed.threadOf(doom);
      await heard(cluster, thread, 1);
      expectReports(await cluster.transcript(thread), ['done 1']);
      expect(cluster.ledger((await onlyChild(cluster, thread)).threadId)).toEqual(['1']);
    });

    it('[runtime 8] after a message to the child was stored, before it is signalled, leads to one answer', async () => {
      await expectTwoReports(await doomed.threadOf(ASKED));
    });

    it('[runtime 8] after a tool queued a message to the child, before it is signalled, leads to one answer', async () => {
      const thread = await doomed.threadOf(WHISPERED);
      await expectTwoReports(thread);
      const told = (await cluster.transcript(thread)).find((line) => line.startsWith('tool whisper'));
      expect(told).toContain('The outcome of this call is unknown');
    });
  });

  async function expectTwoReports(thread: string): Promise<void> {
    await heard(cluster, thread, 2);
    expectReports(await cluster.transcript(thread), ['done 1', 'done 2']);
    expect(cluster.ledger((await onlyChild(cluster, thread)).threadId)).toEqual(['1', '2']);
  }
}

async function onlyChild(cluster: Cluster, thread: string) {
  const children = await cluster.store.children.list(thread);
  expect(children).toHaveLength(1);
  return children[0] as (typeof children)[number];
}

async function eventsOf(cluster: Cluster, thread: string, ...types: string[]) {
  const events = await cluster.store.events.read(thread, 0, 1_000_000);
  return events.filter(({ type }) => types.includes(type)).map(({ type }) => type);
}

/** Content of the child's note, as its parent has it. */
async function readNote(cluster: Cluster, thread: string, path: string | undefined): Promise<string> {
  const bytes = await cluster.client.files(thread).read(path ?? '');
  return new TextDecoder().decode(bytes ?? new Uint8Array());
}

async function heard(cluster: Cluster, thread: string, reports: number): Promise<void> {
  await eventually('the thread', () => cluster.store.threads.get(thread));
  const done = async () =>
    (await cluster.transcript(thread)).filter((line) => line === 'assistant: Heard.').length === reports;
  await eventually(`${reports} reports`, done);
  await cluster.client.waitForIdle(thread);
}

function expectReports(lines: readonly string[], reports: readonly string[]): void {
  const told = lines.filter((line) => line.startsWith('user: Subagent (reference: '));
  expect(told.map((line) => line.split('\n\n')[1])).toEqual(reports);
}
