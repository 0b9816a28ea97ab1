/** Children in the contract suite: the commands of a parent's call; both threads driven as their workflows would. */
import { randomUUID } from 'node:crypto';
import type { SubagentReport } from '../../../src/core/thread/subagent-report.ts';
import type { CreateChild, CreatedChild, NewChild } from '../../../src/store/family/family-record.ts';
import type { ThreadStore } from '../../../src/store/store.ts';
import type { CallKey } from '../../../src/store/transaction/from-run.ts';
import { call, message, openThread, ThreadDriver } from '../thread-driver.ts';

export interface Asked extends Partial<Omit<CreateChild, 'child'>> {
  readonly child?: Partial<NewChild>;
}

export function newChild(fields: Partial<NewChild> = {}): NewChild {
  return {
    threadId: `child-${randomUUID()}`,
    agent: 'researcher',
    name: null,
    title: null,
    description: 'looks things up',
    arguments: {},
    resumable: true,
    blocking: true,
    explicit: false,
    hears: 'a',
    messages: [message(randomUUID(), 'find it')],
    ...fields,
  };
}

/** A thread with one step of `count` calls, all of which have begun. */
export async function openParent(store: ThreadStore, count = 1): Promise<ThreadDriver> {
  const parent = await openThread(store);
  await askCalls(parent, count);
  return parent;
}

export async function askCalls(parent: ThreadDriver, count = 1): Promise<CallKey[]> {
  const indices = Array.from({ length: count }, (_, index) => index);
  const { step } = await parent.answer([message(randomUUID())], {
    toolCalls: indices.map((index) => call(`c${index}`, 'subagent_create')),
  });
  for (const index of indices) await parent.beginTool(step, index, 'subagent');
  parent.afterStep = step;
  return indices.map((index) => ({ step, index }));
}

export function create(parent: ThreadDriver, { child, ...fields }: Asked = {}): Promise<CreatedChild> {
  return parent.store.children.create({
    parentId: parent.id,
    child: newChild(child),
    call: { step: 1, index: 0 },
    waits: false,
    inherits: () => true,
    given: [],
    ...fields,
  });
}

/** Makes a child and opens its thread as its first run does; `fields` belong to the command that makes it. */
export async function createOpened(parent: ThreadDriver, fields: Asked = {}): Promise<ThreadDriver> {
  const created = await create(parent, fields);
  if (created.kind !== 'created') throw new Error(`The child was not made: ${JSON.stringify(created)}.`);
  return openAgain(parent, created.child.threadId);
}

export async function openAgain(parent: ThreadDriver, childId: string): Promise<ThreadDriver> {
  const child = new ThreadDriver(parent.store, childId, `run-${randomUUID()}`);
  await child.open({ agent: 'researcher', parentId: parent.id, rootId: parent.id });
  return child;
}

export function report(fields: Partial<SubagentReport> = {}): SubagentReport {
  return { kind: 'result', content: 'it is 42', attachments: [], ...fields };
}

let executions = 0;

/** The child answers its messages and reports to its parent. Returns the id of the report. */
export async function work(
  child: ThreadDriver,
  told: Partial<SubagentReport> = {},
  status: 'idle' | 'failed' | 'stopped' = 'idle',
): Promise<string> {
  child.executionId = `execution-of-child-${executions++}`;
  child.afterStep = (await child.store.threads.get(child.id))?.lastStep ?? 0;
  await child.answer([]);
  await child.rest(status, { report: report(told) });
  return child.executionId;
}
