/** A store with one of everything that a command reads, made without an engine, for the shapes of what commands print. */
import { randomUUID } from 'node:crypto';
import { toPico } from '../../src/core/value/money.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import { newChild } from '../contract/store/family-driver.ts';
import { makeSent } from '../contract/store/request.ts';
import { call, message, ThreadDriver } from '../contract/thread-driver.ts';
import { makeChild } from './make-child.ts';

/** Ids of what `seedStore` makes. */
export const SEEDED = {
  thread: 'thread-full',
  plain: 'thread-plain',
  run: 'run-full',
  wait: 'wait-full',
  answered: 'wait-answered',
  task: 'task-full',
  asking: 'task-asking',
  request: 'request-full',
  manifest: 'a'.repeat(64),
} as const;

export async function seedStore(store: ThreadStore): Promise<void> {
  const thread = new ThreadDriver(store, SEEDED.thread);
  const context = { organizationId: 'o', traceId: 't', workspaceUri: 'file:///w', metadata: { a: 1 } };
  await thread.open({ userId: 'ada', tags: ['red'], arguments: { city: 'Rome' }, context });
  const { id } = thread;
  await store.files.write(id, {
    path: '/docs/note.md',
    content: Buffer.from('a'),
    mimeType: 'text/markdown',
  });
  await store.values.set(id, 'plan', { steps: ['a'] });
  await store.effects.schedule(id, { id: 'later', name: 'remind', args: { a: 1 }, delayMs: 9_000_000 });
  await makeChild(store, id, 'child-full', 'north');
  await seedRun(thread);
  await seedUncertain(thread);
  await seedWaits(thread);
  await seedRequest(store);
  await seedTasks(store);
  await seedTokens(store);
}

const budget = { warnAt: 0.8, maxSteps: 9, maxCostUsd: 5 };

/** An execution with a budget that has called a model and a tool. */
async function seedRun(thread: ThreadDriver): Promise<void> {
  thread.executionId = SEEDED.run;
  const asked = message('asked', 'look', { attachments: ['/docs/note.md'] });
  const ref = await thread.beginCall([asked], {
    rules: () => ({ budget, manifest: SEEDED.manifest }),
  });
  await thread.store.modelCalls.start({ ...ref, call: 1, model: 'main', modelId: 'main-1' });
  const usage = { promptTokens: 300, completionTokens: 20, totalTokens: 320 };
  const sent = await makeSent(thread, ref);
  await thread.store.modelCalls.end({ ...ref, call: 1, ok: true, usage, cost: toPico(0.0125), sent });
  await thread.commit(ref, { content: 'let me look', toolCalls: [call('c0', 'look'), call('c1', 'break')] });
  await thread.runTool(ref.step, 0);
  await thread.beginTool(ref.step, 1);
  const broken = { status: 'error', error: 'broken', stack: 'Error: broken\n    at look.ts:1:1' } as const;
  await thread.commitTool(ref.step, 1, { result: broken });
  thread.afterStep = ref.step;
  const next = await thread.beginCall();
  await thread.store.modelCalls.start({ ...next, call: 1, model: 'main', modelId: 'main-1' });
  const answered = { call: 1, usage, sent: await makeSent(thread, next) };
  await thread.commit(next, { content: 'seen', call: answered });
  await thread.rest('idle', { reason: 'stop_on_response' });
}

/** Two calls whose outcome was unknown, one of them reconciled, in an execution that has failed. */
async function seedUncertain(thread: ThreadDriver): Promise<void> {
  thread.executionId = 'run-uncertain';
  const toolCalls = [call('c2', 'refund'), call('c3', 'refund')];
  const { step } = await thread.answer([message('again')], { toolCalls });
  const named = {
    kind: 'tool.call',
    name: 'refund',
    capabilities: ['money.move'],
    fingerprint: 'f',
  } as const;
  const allowed = { effect: 'allow', reason: 'r', matchedCapabilities: ['money.move'] } as const;
  const decision = { ...allowed, capabilities: {}, sources: {} };
  for (const index of [0, 1]) {
    const action = { ...named, id: `${thread.id}:${step}:${index}` };
    const begun = { ...thread.from, step, index, attempt: 'lost', idempotent: () => false };
    await thread.store.toolCalls.begin({ ...begun, action: { action, decision } });
    await thread.settleLostTool(step, index);
  }
  const reconciliation = { completed: true, note: 'in the books', by: 'Ada' };
  await thread.store.actions.reconcile(`${thread.id}:${step}:1`, reconciliation);
  thread.afterStep = step;
  await thread.rest('failed', { error: { code: 'Broken', message: 'no answer' } });
}

/** An open question, one without options, an answered one, and an approval beyond its call. */
async function seedWaits({ store, id }: ThreadDriver): Promise<void> {
  const question = {
    threadId: id,
    kind: 'question',
    name: 'book',
    summary: 'For whom?',
    blocks: true,
  } as const;
  const fields = { ...question, data: { seats: 2 }, fingerprint: 'f', toolCallId: 'c9' };
  await store.waits.open({ ...fields, id: SEEDED.wait, key: 'ask:0', expiresInMs: 90_000_000 });
  await store.waits.open({ ...question, id: 'wait-plain', key: 'ask:1', data: null });
  await store.waits.open({ ...question, id: SEEDED.answered, key: 'ask:2', data: null });
  const answer = { value: 'eve', by: 'Ada', reason: 'she asked' };
  await store.waits.answer({ id: SEEDED.answered, answer });
  const approval = { ...fields, kind: 'approval', id: 'wait-granted', key: 'ask:3', blocks: false } as const;
  await store.waits.open(approval);
  await store.waits.answer({ id: approval.id, answer: { approved: true, scope: 'thread', by: 'Ada' } });
}

/** A thread that is at work within a budget, and waits for the variables of a child. */
async function seedRequest(store: ThreadStore): Promise<void> {
  const parent = new ThreadDriver(store, SEEDED.plain);
  await parent.open();
  const { step, attempt } = await parent.beginCall([message('go')], { rules: () => ({ budget }) });
  await parent.commit({ ...parent.from, step, attempt }, { toolCalls: [call('c', 'envoy')] });
  await parent.beginTool(step, 0, 'subagent');
  await store.variableRequests.save({
    id: SEEDED.request,
    parentId: parent.id,
    call: { step, index: 0 },
    required: ['KEY'],
    missing: ['KEY'],
    scoped: [],
    child: newChild(),
  });
}

/** A task that has acted once and was stopped by its budget, and one that asks. */
async function seedTasks({ tasks, waits }: ThreadStore): Promise<void> {
  const rubric = { dimensions: [], judges: [] };
  const document = { id: 'count', run: 'counter', surfaces: {}, knowledge: [], rubric };
  await tasks.saveManifest(SEEDED.manifest, document);
  const over = await openTask(tasks, SEEDED.task);
  const evals = [{ id: 'goal', passed: false }];
  const state = { step: 0, state: '{"count":0}', fingerprint: 'f', score: 0.5, evals };
  await tasks.saveObservation({ ...over, ...state });
  const act = { kind: 'act', action: { type: 'add' } } as const;
  await tasks.saveDecision({ ...over, step: 0, decision: act, action: 'a' });
  await tasks.beginAct({ ...over, step: 0, attempt: 'one', again: false });
  const outcome = { ok: true, result: 'added', costUsd: 0.5 };
  await tasks.endAct({ threadId: over.threadId, step: 0, attempt: 'one', outcome });
  const verdict = { stoppedBy: 'budget', pass: false, reason: 'used up', limit: 'maxSteps' } as const;
  const errors = [{ phase: 'observe', stepIndex: 0, message: 'broken' }] as const;
  await tasks.end({ ...over, verdict, records: null, errors });
  const asking = await openTask(tasks, SEEDED.asking);
  await tasks.saveObservation({ ...asking, ...state });
  await tasks.saveDecision({ ...asking, step: 0, decision: { kind: 'ask', question: 'Which?' } });
  await tasks.rest({ ...asking, waits: true });
  const question = {
    kind: 'question',
    name: 'counter',
    summary: 'Which?',
    data: null,
    blocks: true,
  } as const;
  await waits.open({ ...question, id: 'wait-task', threadId: asking.threadId, key: 'ask:0' });
}

async function openTask(tasks: ThreadStore['tasks'], id: string) {
  const run = { threadId: `task/${id}`, runId: randomUUID() };
  const spec = { id, intent: 'count', inputs: { to: 3 } };
  const given = { name: 'counter', spec, scenarioId: 's', userId: 'ada', requirements: [] };
  const start = { ...given, preflight: 'over' as const };
  await tasks.open({ ...run, mustExist: false, manifest: SEEDED.manifest, start });
  return run;
}

async function seedTokens({ tokens }: ThreadStore): Promise<void> {
  const token = { name: 'web', scopes: ['read'], userId: 'ada', organizationId: 'o', lifeMs: 9_000_000 };
  await tokens.create({ ...token, id: 'token-full', digest: 'd' });
  const open = { name: null, scopes: ['admin'], userId: null, organizationId: null, lifeMs: null };
  await tokens.create({ ...open, id: 'token-plain', digest: 'e' });
  await tokens.revoke('token-plain');
}
