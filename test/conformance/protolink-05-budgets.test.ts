/** Budgets defined by an agent: where each limit denies, what is stored when it does, and that the thread stays usable. */
import { describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import type { BudgetInput } from '../../src/definitions/budget-input.ts';
import {
  defineAgent,
  defineModel,
  definePrompt,
  defineTool,
  registryFrom,
} from '../../src/definitions/index.ts';
import { calls, callsMany, fails, type Script, says, scriptedModel } from '../../src/testing/index.ts';
import { workflowOf } from '../support/operator.ts';
import { eventually, type TestRuntime, testRuntime } from '../support/runtime.ts';

/** Tools, and the names of those whose bodies have run. */
function counted(quick: boolean) {
  const ran: string[] = [];
  const make = (name: string) =>
    defineTool({
      description: name,
      quick,
      execute: () => {
        ran.push(name);
        return { status: 'success', result: `${name} done` };
      },
    });
  return { ran, tools: { look: make('look'), note: make('note') } };
}

async function budgeted(budget: BudgetInput, script: Script, quick = true) {
  const model = scriptedModel(script);
  const { ran, tools } = counted(quick);
  const runtime = await testRuntime({ model, tools, agent: { budget } });
  const log = async (thread: string) => runtime.store.events.read(thread, 0, 10_000);
  return { model, ran, log, ...runtime };
}

const record = ({ client }: Pick<TestRuntime, 'client'>, thread: string) => client.getThread(thread);
const denied = { status: 'failed', lastError: { code: 'BudgetExceeded' } };

describe('budgets', () => {
  it('[PL-17] maxSteps 0: no model is called, the message is stored, and the thread stays usable', async () => {
    const runtime = await budgeted({ maxSteps: 0 }, []);
    const thread = await runtime.start('hello');
    expect(await record(runtime, thread)).toMatchObject(denied);
    expect(await runtime.transcript(thread)).toEqual(['user: hello']);
    await runtime.say(thread, 'again');
    expect(await runtime.transcript(thread)).toEqual(['user: hello', 'user: again']);
    expect(eventsOf(await runtime.log(thread), 'budget.exceeded').map(({ data }) => data.limit)).toEqual([
      'maxSteps',
      'maxSteps',
    ]);
  });

  it('[PL-17] maxSteps 1: the second step is denied, and the first one’s results are kept', async () => {
    const runtime = await budgeted({ maxSteps: 1 }, [calls('look')]);
    const thread = await runtime.start('hello');
    expect(await record(runtime, thread)).toMatchObject(denied);
    expect(await runtime.transcript(thread)).toEqual([
      'user: hello',
      'assistant:  -> look',
      'tool look success: look done',
    ]);
  });

  it('[PL-17] maxLlmCalls 0: the step is denied before anything is sent', async () => {
    const runtime = await budgeted({ maxLlmCalls: 0 }, []);
    const thread = await runtime.start('hello');
    expect(await record(runtime, thread)).toMatchObject(denied);
    expect(eventsOf(await runtime.log(thread), 'model.called')).toEqual([]);
  });

  it.each([
    ['quick', true],
    ['slow', false],
  ])(
    '[PL-17] maxToolCalls 1: of an answer with three %s calls one runs, and the others are closed without running',
    async (_, quick) => {
      const script = [callsMany(['look', 'note', 'look'].map((name) => ({ name }))), says('a new start')];
      const runtime = await budgeted({ maxToolCalls: 1 }, script, quick as boolean);
      const thread = await runtime.start('hello');
      expect(await record(runtime, thread)).toMatchObject(denied);
      expect(runtime.ran).toEqual(['look']);
      const said = await runtime.transcript(thread);
      expect(said.slice(0, 3)).toEqual([
        'user: hello',
        'assistant:  -> look, note, look',
        'tool look success: look done',
      ]);
      expect(said.slice(3).map((line) => line.match(/^tool \w+ error|BudgetExceeded/g)?.join(': '))).toEqual([
        'tool note error: BudgetExceeded',
        'tool look error: BudgetExceeded',
      ]);
      await runtime.say(thread, 'go on');
      expect((await runtime.transcript(thread)).at(-1)).toBe('assistant: a new start');
      expect(await record(runtime, thread)).toMatchObject({ status: 'idle' });
    },
  );

  it('[PL-17] a queued tool denied by the budget is stored, and does not run', async () => {
    const runtime = await budgeted({ maxToolCalls: 0 }, []);
    const thread = await runtime.start();
    await runtime.client.queueTool(thread, { name: 'look', arguments: {} });
    await runtime.client.waitForIdle(thread);
    expect(await record(runtime, thread)).toMatchObject(denied);
    expect(runtime.ran).toEqual([]);
    expect((await runtime.transcript(thread)).at(-1)).toMatch(/^tool look error.*BudgetExceeded/);
  });

  it('[PL-18] warns at 80 % of a limit, once for each limit', async () => {
    const script = [calls('look'), calls('look'), calls('look'), calls('look'), says('done')];
    const runtime = await budgeted({ maxSteps: 5, maxToolCalls: 5 }, script);
    const thread = await runtime.start('hello');
    expect(await record(runtime, thread)).toMatchObject({ status: 'idle' });
    expect(eventsOf(await runtime.log(thread), 'budget.warning').map(({ data }) => data)).toMatchObject([
      { limit: 'maxSteps', used: 4, max: 5 },
      { limit: 'maxToolCalls', used: 4, max: 5 },
    ]);
  });

  it('[PL-19] a retry is another call: with a limit of one it is denied, with two it answers', async () => {
    const busy = fails({ status: 429, message: 'slow down', retryAfter: 0 });
    const one = await budgeted({ maxLlmCalls: 1 }, [busy]);
    const thread = await one.start('hello');
    expect(await record(one, thread)).toMatchObject(denied);
    expect(eventsOf(await one.log(thread), 'model.called')).toHaveLength(1);
    const two = await budgeted({ maxLlmCalls: 2 }, [busy, says('here')]);
    const other = await two.start('hello');
    expect((await two.transcript(other)).at(-1)).toBe('assistant: here');
    expect(await two.store.budgets.read(other)).toMatchObject([{ limit: 'maxLlmCalls', max: 2, used: 2 }]);
  });

  it('[PL-17] maxOutputTokens: each request may return the remaining tokens, and none is sent with none left', async () => {
    const usage = { promptTokens: 5, completionTokens: 60, totalTokens: 65 };
    const script = [
      calls('look', {}, { usage }),
      calls('look', {}, { usage: { ...usage, completionTokens: 40 } }),
    ];
    const runtime = await budgeted({ maxOutputTokens: 100 }, script);
    const thread = await runtime.start('hello');
    expect(await record(runtime, thread)).toMatchObject(denied);
    expect(runtime.model.requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([100, 40]);
    expect(await runtime.store.budgets.read(thread)).toMatchObject([
      { used: 100, reserved: 0, estimated: 0 },
    ]);
    expect(runtime.ran).toEqual(['look', 'look']);
  });

  it('[PL-17] an answer above its budget is stored, its calls are closed without running, and the thread stays usable', async () => {
    const usage = { promptTokens: 5000, completionTokens: 1, totalTokens: 5001 };
    const runtime = await budgeted({ maxInputTokens: 1000 }, [
      calls('look', {}, { usage }),
      says('a new start'),
    ]);
    const thread = await runtime.start('hello');
    expect(await record(runtime, thread)).toMatchObject(denied);
    expect(runtime.ran).toEqual([]);
    expect((await runtime.transcript(thread)).slice(0, 2)).toEqual(['user: hello', 'assistant:  -> look']);
    expect((await runtime.transcript(thread))[2]).toMatch(
      /^tool look error.*BudgetExceeded: .*maxInputTokens is 1000/,
    );
    await runtime.say(thread, 'go on');
    expect(await record(runtime, thread)).toMatchObject({ status: 'idle' });
  });

  it('[PL-17] maxInputTokens: a request estimated as too long is not sent', async () => {
    const runtime = await budgeted({ maxInputTokens: 1000 }, []);
    const thread = await runtime.start('word '.repeat(2000));
    expect(await record(runtime, thread)).toMatchObject(denied);
    expect(eventsOf(await runtime.log(thread), 'model.called')).toEqual([]);
  });

  it('maxCost requires the price of every model that may be called', () => {
    const registry = (fields: object) => () =>
      registryFrom({
        agents: [defineAgent({ name: 'helper', sideA: { prompt: 'main' }, budget: { maxCost: 1 } })],
        prompts: [
          definePrompt({ name: 'main', toolDescription: 'main', prompt: 'You help.', model: 'first' }),
        ],
        models: [
          defineModel({
            name: 'first',
            provider: scriptedModel([]).provider,
            model: 'm',
            inputPrice: 1,
            outputPrice: 2,
            fallbacks: ['spare'],
          }),
          defineModel({
            name: 'spare',
            provider: scriptedModel([]).provider,
            model: 'm',
            inputPrice: 1,
            ...fields,
          }),
        ],
      });
    expect(registry({})).toThrow(/budget\.maxCost needs prices, and the model 'spare'/);
    expect(registry({ outputPrice: 0 })).not.toThrow();
  });

  it('a request blocked only by other requests waits for them, and is sent then', async () => {
    const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2 };
    const model = scriptedModel([calls('hold', {}, { usage }), says('mine at last', { usage })]);
    const held = { step: 1, attempt: 9, call: 9 };
    let [threadId, runId] = ['', ''];
    const hold = defineTool({
      description: 'holds all that is left, as a request of a relative would',
      execute: async (state) => {
        threadId = state.threadId;
        const { store } = runtime;
        runId = (await workflowOf(runtime, threadId).describe()).runId;
        const asked = { ...held, threadId, runId, model: 'other', modelId: 'other' };
        await store.modelCalls.start({ ...asked, reserve: () => ({ inputTokens: 1, leaseMs: 600_000 }) });
        return { status: 'success', result: 'held' };
      },
    });
    const agent = { budget: { maxOutputTokens: 100 } };
    const runtime = await testRuntime({ model, tools: { hold }, agent });
    const { threadId: id } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'hello' }],
    });
    const log = () => runtime.store.events.read(id, 0, 10_000);
    await eventually('it has asked again', async () => eventsOf(await log(), 'step.retried').length > 0);
    expect(model.requests).toHaveLength(1);
    await runtime.store.modelCalls.end({ ...held, threadId, runId, ok: true, usage });
    await workflowOf(runtime, id).signal('wakeForMessages', { settled: true });
    await runtime.client.waitForIdle(id);
    const events = (await workflowOf(runtime, id).fetchHistory()).events ?? [];
    const told = events.findIndex(({ workflowExecutionSignaledEventAttributes: signal }) => signal);
    // The workflow was woken by the signal: no timer of its regular check has fired.
    expect(told).toBeGreaterThan(0);
    expect(events.slice(told).filter(({ timerFiredEventAttributes: fired }) => fired)).toEqual([]);
    expect((await runtime.transcript(id)).at(-1)).toBe('assistant: mine at last');
    expect(await runtime.store.budgets.read(id)).toMatchObject([{ used: 3, reserved: 0 }]);
  });
});
