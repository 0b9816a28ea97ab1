/** Calls that fail one after the other: the execution asks a person for help, and continues once it is given. */
import { expect, it } from '@jest/globals';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { toFailureGuard } from '../../src/core/guard/failure.ts';
import { defineAgent, defineTool } from '../../src/definitions/index.ts';
import { calls, type ScriptStep, says, scriptedModel } from '../../src/testing/index.ts';
import { eventually, testRuntime } from '../support/runtime.ts';

const fall = defineTool({ description: 'fails', execute: () => ({ status: 'error', error: 'it fell' }) });
const look = defineTool({
  description: 'looks',
  quick: true,
  execute: () => ({ status: 'success', result: 'seen' }),
});
const agent = { guards: { failures: {} } };
const FAILS = Array.from({ length: 3 }, () => calls('fall'));

async function failing(...then: ScriptStep[]) {
  const model = scriptedModel([...FAILS, ...then]);
  const runtime = await testRuntime({ model, tools: { fall, look }, agent });
  const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
  const wait = await eventually(
    'it asks for help',
    async () => (await runtime.client.listWaits({ threadId }))[0],
  );
  return { ...runtime, model, threadId, wait };
}

it('[AX-144] the guard has a default and a minimum', () => {
  expect([{}, { max: 1 }, { max: 7 }].map(toFailureGuard)).toEqual([{ max: 3 }, { max: 2 }, { max: 7 }]);
  const guards = { failures: { max: 1 } };
  expect(defineAgent({ name: 'helper', sideA: { prompt: 'talk' }, guards }).guards).toEqual({
    failures: { max: 2 },
  });
});

it('[AX-144] an execution asks for help after the third failure in a row, and continues once released', async () => {
  const { client, store, model, threadId, wait } = await failing(
    ...FAILS.slice(1),
    calls('look'),
    says('done'),
  );
  expect(wait).toMatchObject({
    ...{ kind: 'paused', name: 'helper', blocks: true, data: { failures: 3, tool: 'fall' } },
    summary: 'help for helper: 3 calls in a row have failed, the last one to "fall"',
  });
  expect(model.requests).toHaveLength(3);
  expect(await client.answerWait(wait.id, { approved: true })).toEqual({ outcome: 'taken' });
  // Two more failures are not three in a row: those before the help no longer count.
  await client.waitForIdle(threadId);
  expect(await client.getThread(threadId)).toMatchObject({ status: 'idle', lastError: null });
  expect(model.requests).toHaveLength(7);
  const log = await store.events.read(threadId, 0, 1000);
  expect(eventsOf(log, 'execution.started')).toHaveLength(1);
  expect(eventsOf(log, 'wait.opened')).toHaveLength(1);
});

it('[AX-144] a message is the help, and closes the wait', async () => {
  const { client, store, model, threadId, wait } = await failing(says('done'));
  await client.queueMessage(threadId, { content: 'use the stairs' });
  await client.waitForIdle(threadId);
  expect(model.requests[3]?.messages.at(-1)).toMatchObject({ role: 'user', content: 'use the stairs' });
  const [closed] = eventsOf(await store.events.read(threadId, 0, 1000), 'wait.closed');
  expect(closed?.data).toMatchObject({ waitId: wait.id, reason: 'spoken to' });
});

it('[AX-144] the execution ends if the help is denied, and the next one starts clean', async () => {
  const { client, model, threadId, wait } = await failing(calls('fall'), says('a new start'));
  await client.answerWait(wait.id, { approved: false });
  await client.waitForIdle(threadId);
  expect(await client.getThread(threadId)).toMatchObject({
    status: 'failed',
    lastError: { code: 'HelpRefused' },
  });
  await client.queueMessage(threadId, { content: 'again' });
  await client.waitForIdle(threadId);
  expect(await client.getThread(threadId)).toMatchObject({ status: 'idle', lastError: null });
  expect(model.requests).toHaveLength(5);
});

it('[AX-144] a success resets the count, and nothing is counted without the guard', async () => {
  const between = [...FAILS.slice(1), calls('look'), ...FAILS.slice(1), says('done')];
  const guarded = await testRuntime({ model: scriptedModel(between), tools: { fall, look }, agent });
  expect(await guarded.client.getThread(await guarded.start('go'))).toMatchObject({ status: 'idle' });
  const free = await testRuntime({ model: scriptedModel([...FAILS, says('done')]), tools: { fall } });
  expect(await free.client.getThread(await free.start('go'))).toMatchObject({ status: 'idle' });
});
