/** runtime §3: the seven phases of a step, in order, each persisted before the next. */
import { describe, expect, it } from '@jest/globals';
import {
  defineAgent,
  defineModel,
  definePrompt,
  defineTool,
  registryFrom,
} from '../../src/definitions/index.ts';
import { calls, callsMany, fails, says, scriptedModel } from '../../src/testing/index.ts';
import { testRuntime } from '../support/runtime.ts';

const look = defineTool({ description: 'looks', execute: () => ({ status: 'success', result: 'seen' }) });

describe('runtime §3 Step Cycle', () => {
  it('[runtime 3] drains, calls the model, stores the answer, runs tools, stores results, evaluates stops: in this order', async () => {
    const runtime = await testRuntime({
      model: scriptedModel([calls('look', {}), says('seen it')]),
      tools: { look },
    });
    const thread = await runtime.start('go');
    const events = await runtime.store.events.read(thread, 0);
    expect(events.map(({ type }) => type).filter((type) => type !== 'model.chunk')).toEqual([
      'thread.created',
      'message.created', // 1 drain
      'execution.started',
      'thread.status',
      'step.started',
      'model.called', // 2-3 assemble and call
      'model.answered',
      'message.created', // 4 persist the answer
      'step.committed',
      'tool.called',
      'tool.started', // 5 execute tool calls
      'message.created', // 6 persist results
      'tool.result',
      'step.started', // 7 no stop: the next step
      'model.called',
      'model.answered',
      'message.created',
      'step.committed',
      'execution.ended', // 7 stop_on_response
      'thread.status',
    ]);
    const numbers = (await runtime.store.events.read(thread, 0)).map(({ seq }) => seq);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  });

  it('[runtime 1] a result is stored before the next call of its step starts, and all before the model is called again', async () => {
    const seen: unknown[] = [];
    const stored = async (threadId: string) =>
      (await runtime.messages(threadId)).filter(({ role }) => role === 'tool').map(({ name }) => name);
    const note = (quick: boolean) =>
      defineTool({
        description: 'notes what is stored',
        quick,
        execute: async (state) => {
          seen.push(await stored(state.threadId));
          return { status: 'success' };
        },
      });
    const model = scriptedModel(async ({ user }, index) => {
      seen.push(await stored(user ?? ''));
      return index === 0 ? callsMany(['one', 'two', 'three'].map((name) => ({ name }))) : says('done');
    });
    const runtime = await testRuntime({
      model,
      tools: { one: note(true), two: note(false), three: note(true) },
    });
    await runtime.start('go');
    expect(seen).toEqual([[], [], ['one'], ['one', 'two'], ['one', 'two', 'three']]);
  });

  it('[runtime 3.2] the model gets the rendered prompt, the history, and the tools with strict schemas', async () => {
    const model = scriptedModel([says('hello Ada')]);
    const registry = registryFrom({
      agents: [defineAgent({ name: 'helper', sideA: { prompt: 'main' }, env: { TONE: 'kind' } })],
      prompts: [
        definePrompt({
          name: 'main',
          toolDescription: 'main',
          model: 'm',
          includeChat: true,
          prompt: [
            { type: 'text', content: 'You help {{name}}. Unknown: {{nothing}}. Tone: ' },
            { type: 'env', property: 'TONE' },
            { type: 'include', prompt: 'rules' },
          ],
          tools: ['look'],
        }),
        definePrompt({ name: 'rules', toolDescription: 'rules', model: 'm', prompt: ' Obey {{name}}.' }),
      ],
      models: [defineModel({ name: 'm', provider: model.provider, model: 'scripted-1' })],
      tools: { look },
    });
    const runtime = await testRuntime({ model, registry });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      arguments: { name: 'Ada' },
      messages: [{ content: 'hi' }],
    });
    await runtime.client.waitForIdle(threadId);
    const [request] = model.requests;
    expect(request?.messages).toEqual([
      { role: 'system', content: 'You help Ada. Unknown: {{nothing}}. Tone: kind Obey Ada.' },
      { role: 'user', content: 'hi' },
    ]);
    expect(request?.tools?.[0]?.function).toMatchObject({
      name: 'look',
      parameters: { additionalProperties: false },
    });
    expect(request).toMatchObject({ toolChoice: 'auto', parallelToolCalls: false });
  });

  it('[definitions 22.7] without includePastTools only calls of the current execution are sent', async () => {
    const model = scriptedModel([calls('look', {}), says('one'), calls('look', {}), says('two')]);
    const runtime = await testRuntime({ model, tools: { look }, prompt: { includePastTools: false } });
    const thread = await runtime.start('first');
    await runtime.say(thread, 'second');
    expect(model.requests[3]?.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
      'assistant',
      'tool',
    ]);
  });

  it('[definitions 22.8] without includeChat the model gets the current execution only, its own calls included', async () => {
    const model = scriptedModel([says('one'), calls('look', {}), says('two')]);
    const prompt = { includeChat: false, includePastTools: false };
    const runtime = await testRuntime({ model, tools: { look }, prompt });
    const thread = await runtime.start('first');
    await runtime.say(thread, 'second');
    expect(model.requests[2]?.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
    ]);
    expect(model.requests[2]?.messages[1]).toEqual({ role: 'user', content: 'second' });
  });

  it('[definitions 4] a model that fails permanently is replaced by its fallbacks in order, each call stored', async () => {
    const first = scriptedModel([fails({ status: 401, message: 'no key' })]);
    const second = scriptedModel([fails({ status: 400, message: 'bad' })]);
    const third = scriptedModel([says('third it is')]);
    const registry = registryFrom({
      agents: [defineAgent({ name: 'helper', sideA: { prompt: 'main' } })],
      prompts: [
        definePrompt({ name: 'main', toolDescription: 'main', model: 'a', prompt: 'x', includeChat: true }),
      ],
      models: [
        defineModel({ name: 'a', provider: first.provider, model: '1', fallbacks: ['b', 'c'] }),
        defineModel({ name: 'b', provider: second.provider, model: '2' }),
        defineModel({ name: 'c', provider: third.provider, model: '3' }),
      ],
    });
    const runtime = await testRuntime({ registry });
    const thread = await runtime.start('go');
    expect(await runtime.transcript(thread)).toEqual(['user: go', 'assistant: third it is']);
    const events = await runtime.store.events.read(thread, 0);
    const models = events.filter((event) => event.type === 'model.called').map(({ data }) => data.model);
    expect(models).toEqual(['a', 'b', 'c']);
  });

  it('a failed step leaves a marker, and the next message is answered', async () => {
    const model = scriptedModel([fails({ status: 400, message: 'no such model' }), says('better now')]);
    const runtime = await testRuntime({ model });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject({
      status: 'failed',
      lastError: { code: 'invalid_request' },
    });
    await runtime.say(thread, 'try again');
    expect(await runtime.client.getThread(thread)).toMatchObject({ status: 'idle', lastError: null });
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['system', 'user', 'user']);
  });

  it('an unknown agent is a stored error, and works once a worker knows it', async () => {
    const model = scriptedModel([says('here I am')]);
    const known = registryFrom({
      agents: [defineAgent({ name: 'late', sideA: { prompt: 'main' } })],
      prompts: [
        definePrompt({ name: 'main', toolDescription: 'x', model: 'm', prompt: 'x', includeChat: true }),
      ],
      models: [defineModel({ name: 'm', provider: model.provider, model: '1' })],
    });
    const empty = registryFrom({});
    let registry = empty;
    const runtime = await testRuntime({ model, registry: () => registry });
    const { threadId } = await runtime.client.startThread({
      agent: 'late',
      messages: [{ content: 'hello?' }],
    });
    expect(await runtime.client.waitForIdle(threadId)).toMatchObject({
      status: 'failed',
      lastError: { code: 'AgentNotFound' },
    });
    registry = known;
    await runtime.say(threadId, 'and now?');
    expect((await runtime.transcript(threadId)).at(-1)).toBe('assistant: here I am');
  });
});
