/**
 * A worker is killed at every place where something passes between a parent and its child (runtime §7, §8): each child is made
 * once, does its work once, and is heard once.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type DoomedCluster, startDoomed } from '../support/doomed-cluster.ts';
import { eventually } from '../support/eventually.ts';
import type { Cluster } from '../support/fault-cluster.ts';
import { isAide } from '../support/fault-family.ts';
import type { DeathPoint } from '../support/fault-project.ts';

let doomed: DoomedCluster;
let cluster: Cluster;

beforeAll(async () => {
  doomed = await startDoomed(isAide);
  cluster = doomed.cluster;
});
afterAll(() => doomed?.close());

/** `late`: the order is given as the child's model is asked. */
async function runWithDeath(content: string, point: DeathPoint, late: boolean): Promise<string> {
  const thread = await doomed.beginWithDeath(content, point, late);
  await cluster.keep(2);
  return thread;
}

async function onlyChild(thread: string) {
  const children = await cluster.client.store.listChildren(thread);
  expect(children).toHaveLength(1);
  return children[0] as (typeof children)[number];
}

async function eventsOf(thread: string, ...types: string[]) {
  const events = await cluster.client.store.readEvents(thread, 0, 1_000_000);
  return events.filter(({ type }) => types.includes(type)).map(({ type }) => type);
}

/** What its parent has of the child's note. */
async function readNote(thread: string, path: string | undefined): Promise<string> {
  const bytes = await cluster.client.files(thread).read(path ?? '');
  return new TextDecoder().decode(bytes ?? new Uint8Array());
}

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

describe('a worker process killed with SIGKILL at a hand-over between a parent and a child that it waits for', () => {
  it.each<[string, DeathPoint, boolean]>([
    ['before the child is made', 'subagent_begun', false],
    ['after the child was made, before its workflow starts', 'subagent_created', false],
    ['while its first message is taken', 'model_answered', true],
    ['after a tool of the child, before its completion', 'tool_committed', true],
    ['after the child told its status, before its tool has a result', 'subagent_status_told', false],
    ['after the child ended and made its report', 'status_committed', true],
    ['before the report is delivered', 'report_due', false],
    [
      'after the report and its files were delivered, before the parent hears of it',
      'report_delivered',
      false,
    ],
    ['before the result is stored', 'subagent_reported', false],
  ])('[runtime 8] %s makes one child, one report, one result', async (_when, point, late) => {
    const thread = await runWithDeath('delegate 1', point, late);
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
    const child = await onlyChild(thread);
    await eventually('the child ends', async () => (await onlyChild(thread)).status === 'terminated');
    // The paths of the files that it was given are its own.
    const said = (await cluster.transcript(child.threadId)).filter((line) => !line.startsWith('system: '));
    expect(said).toEqual(CHILD.slice(1));
    expect(cluster.ledger(child.threadId)).toEqual(['1']);
    const markers = ['subagent.created', 'subagent.status', 'subagent.returned', 'subagent.failed'];
    expect(await eventsOf(thread, ...markers)).toEqual([
      'subagent.created',
      'subagent.status',
      'subagent.returned',
    ]);
    const { messages } = await cluster.client.getMessages(thread, { limit: 100 });
    const refs = messages.find(({ name }) => name === 'aide')?.attachments ?? [];
    expect(refs).toHaveLength(1);
    expect(await readNote(thread, refs[0]?.path)).toBe('the note out');
  });
});

describe('a worker process killed with SIGKILL at a hand-over between a parent and a child that it does not wait for', () => {
  it.each<[string, DeathPoint, boolean]>([
    ['after the child was made, before its workflow starts', 'subagent_created', false],
    ['before the report is delivered', 'report_due', false],
    ['after the report was delivered, before the parent hears of it', 'report_delivered', false],
  ])('[runtime 8] %s queues one report', async (_when, point, late) => {
    const thread = await runWithDeath('send 1', point, late);
    await heard(thread, 1);
    expectReports(await cluster.transcript(thread), ['done 1']);
    expect(cluster.ledger((await onlyChild(thread)).threadId)).toEqual(['1']);
  });

  it('[runtime 8] after the child was told something, before anybody hears of it, has it answer once', async () => {
    const thread = await cluster.begin('send 1');
    await heard(thread, 1);
    const { threadId } = await onlyChild(thread);
    cluster.orderDeath('subagent_told');
    await cluster.client.queueMessage(thread, { content: `ask ${threadId} 2` });
    await cluster.died('subagent_told');
    await cluster.keep(2);
    await heard(thread, 2);
    expectReports(await cluster.transcript(thread), ['done 1', 'done 2']);
    expect(cluster.ledger(threadId)).toEqual(['1', '2']);
  });

  it('[runtime 8] after a tool queued something to the child, before anybody hears of it, has it answer once', async () => {
    const thread = await cluster.begin('send 1');
    await heard(thread, 1);
    const { threadId } = await onlyChild(thread);
    cluster.orderDeath('relative_told');
    await cluster.client.queueMessage(thread, { content: 'whisper 2' });
    await cluster.died('relative_told');
    await cluster.keep(2);
    await heard(thread, 2);
    expectReports(await cluster.transcript(thread), ['done 1', 'done 2']);
    expect(cluster.ledger(threadId)).toEqual(['1', '2']);
    const told = (await cluster.transcript(thread)).find((line) => line.startsWith('tool whisper'));
    expect(told).toContain('The outcome of this call is unknown');
  });
});

async function heard(thread: string, reports: number): Promise<void> {
  await eventually('the thread', () => cluster.client.store.getThread(thread));
  const done = async () =>
    (await cluster.transcript(thread)).filter((line) => line === 'assistant: Heard.').length === reports;
  await eventually(`${reports} reports`, done);
  await cluster.client.waitForIdle(thread);
}

function expectReports(lines: readonly string[], reports: readonly string[]): void {
  const told = lines.filter((line) => line.startsWith('user: Subagent (reference: '));
  expect(told.map((line) => line.split('\n\n')[1])).toEqual(reports);
}
