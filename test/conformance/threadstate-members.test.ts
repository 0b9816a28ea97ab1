/** The other members of ThreadState (definitions §14). Files, values, variables and code are tested in other files. */
import { describe, expect, it } from '@jest/globals';
import { defineSearchAttributeKey } from '@temporalio/common';
import type { ThreadState } from '../../src/core/author/thread-state.ts';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { definePrompt } from '../../src/definitions/index.ts';
import { calls, callsMany, says, scriptedModel } from '../../src/testing/index.ts';
import { hookRuntime } from '../support/hook-project.ts';
import { eventually, testRuntime } from '../support/runtime.ts';
import { codeOf, toolAnswers, toolOf, work } from '../support/tool-work.ts';

describe('ThreadState: identity', () => {
  it('[threadstate identity] a tool has its thread, agent, user and creation time', async () => {
    const runtime = await testRuntime({
      model: scriptedModel([calls('who'), says('done')]),
      tools: {
        who: toolOf(({ threadId, agentId, userId, createdAt, terminated, arguments: given }) => ({
          threadId,
          agentId,
          userId,
          createdAt,
          terminated,
          given,
        })),
      },
    });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      userId: 'ada',
      arguments: { topic: 'ships' },
      messages: [{ content: 'go' }],
    });
    const { createdAt } = await runtime.client.waitForIdle(threadId);
    expect(await toolAnswers(runtime, threadId)).toEqual([
      { threadId, agentId: 'helper', userId: 'ada', createdAt, terminated: null, given: { topic: 'ships' } },
    ]);
    expect(Math.abs(createdAt - Date.now() * 1000)).toBeLessThan(600_000_000);
  });
});

describe('ThreadState: hierarchy and lifecycle', () => {
  it('[threadstate hierarchy] a thread without family has no parent and no children, and notifying a parent does nothing', async () => {
    const { answers } = await work({
      family: async (state) => [
        state.children,
        await state.getChildThread('anything'),
        await state.getParentThread(),
        await codeOf(() => state.notifyParent('hello')),
        await codeOf(() => state.setStatus('busy')),
        await codeOf(() => state.notifyParent('  ')),
        await codeOf(() => state.setStatus('')),
      ],
    });
    expect(answers).toEqual([[[], null, null, {}, {}, 'InvalidMessage', 'InvalidMessage']]);
  });

  it('[threadstate lifecycle] terminated reflects its own terminate(), and arguments are deeply frozen', async () => {
    const runtime = await testRuntime({
      model: scriptedModel([calls('end')]),
      tools: {
        end: toolOf(async (state) => {
          const given = state.arguments as { topic: { name: string } };
          const change = () => {
            given.topic.name = 'trains';
          };
          const refused = await codeOf(change);
          const before = state.terminated;
          await state.terminate();
          seen.resolve([given.topic.name, refused, before, state.terminated]);
        }),
      },
    });
    const seen = Promise.withResolvers<unknown[]>();
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      arguments: { topic: { name: 'ships' } },
      messages: [{ content: 'go' }],
    });
    const told = await seen.promise;
    const { terminatedAt } = await runtime.client.waitForIdle(threadId);
    expect(told).toEqual(['ships', expect.stringContaining('read only'), null, terminatedAt]);
  });

  it('[threadstate lifecycle] terminate ends the thread permanently: later commands are refused, and its history stays', async () => {
    const runtime = await testRuntime({
      model: scriptedModel([calls('end')]),
      tools: {
        end: toolOf(async (state) => {
          await state.terminate();
          await state.terminate();
          return codeOf(() => state.queueMessage({ content: 'too late' }));
        }),
      },
    });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await eventually('the thread is terminated', async () => {
      return (await runtime.store.threads.get(threadId))?.status === 'terminated';
    });
    const handle = runtime.client.temporal.workflow.getHandle(`thread/${threadId}`);
    expect(await handle.result()).toEqual({ outcome: 'terminated' });
    const { typedSearchAttributes } = await handle.describe();
    const status = defineSearchAttributeKey('ThreadStatus', 'KEYWORD');
    expect(typedSearchAttributes.get(status)).toBe('terminated');
    expect(await codeOf(() => runtime.client.queueMessage(threadId, { content: 'x' }))).toBe(
      'ThreadTerminated',
    );
    expect((await runtime.transcript(threadId))[0]).toBe('user: go');
    await eventually('the result of the call itself', async () =>
      (await runtime.transcript(threadId)).includes('tool end success: "ThreadTerminated"'),
    );
  });
});

describe('ThreadState: context', () => {
  it('[threadstate context] is shared by the tools of one execution and removed when the thread is idle', async () => {
    const runtime = await testRuntime({
      model: scriptedModel([calls('write'), calls('read'), says('done'), calls('read'), says('done')]),
      tools: {
        write: toolOf((state) => {
          state.context.seen = { n: 1 };
        }),
        read: toolOf((state) => state.context),
      },
    });
    const threadId = await runtime.start('go');
    await runtime.say(threadId, 'again');
    expect(await toolAnswers(runtime, threadId)).toEqual([null, { seen: { n: 1 } }, {}]);
  });

  it('[definitions 22.15] is interpolated in the prompt after the arguments, and an unknown name stays as written', async () => {
    const model = scriptedModel([calls('write'), says('done')]);
    const runtime = await testRuntime({
      model,
      tools: { write: toolOf((state) => void Object.assign(state.context, { mood: 'calm', topic: 'none' })) },
      prompt: { prompt: 'Be {{mood}} about {{topic}}.' },
    });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      arguments: { topic: 'ships' },
      messages: [{ content: 'go' }],
    });
    await runtime.client.waitForIdle(threadId);
    expect(model.requests.map(({ messages }) => messages[0]?.content)).toEqual([
      'Be {{mood}} about ships.',
      'Be calm about ships.',
    ]);
  });

  it('[threadstate context] keeps structured-cloneable values, and drops others without telling the model', async () => {
    const when = new Date(0);
    const { answers, runtime, threadId } = await work({
      leave: ({ context }) => {
        const ring: Record<string, unknown> = { done: () => 1 };
        ring.ring = ring;
        Object.assign(context, {
          n: 1,
          when,
          seen: new Map([['a', new Set([1n])]]),
          ring,
          stop: Symbol('stop'),
        });
        return 'left';
      },
      read: (state) => {
        const {
          n,
          when: read,
          seen,
          ring,
          ...rest
        } = state.context as unknown as {
          readonly n: number;
          readonly when: Date;
          readonly seen: Map<string, Set<bigint>>;
          readonly ring: { readonly ring: unknown };
        };
        const [first] = seen.get('a') ?? [];
        return [n, read.getTime(), typeof first, ring.ring === ring, Object.keys(ring), Object.keys(rest)];
      },
    });
    expect(answers).toEqual(['left', [1, 0, 'bigint', true, ['ring'], []]]);
    const notes = eventsOf(await runtime.store.events.read(threadId, 0), 'code.note');
    expect(notes.map(({ data }) => data.note)).toEqual([
      'state.context.ring.done: a function cannot be kept',
      'state.context.stop: a symbol cannot be kept',
    ]);
  });

  it('[threadstate context] drops a value that is too large, and keeps the others', async () => {
    const { answers } = await work({
      leave: ({ context }) => void Object.assign(context, { large: 'x'.repeat(300_000), small: 1 }),
      read: ({ context }) => context,
    });
    expect(answers).toEqual([null, { small: 1 }]);
  });
});

describe('ThreadState: execution', () => {
  it('[threadstate execution] has the flow, its steps, its prompts, and the messages so far', async () => {
    const { answers } = await work({
      first: ({ execution }) => execution?.stepCount,
      second: ({ execution }) => {
        const { currentSide, stepCount, sideAStepCount, sideBStepCount, stopped, promptPath } =
          execution ?? {};
        const last = execution?.messageHistory.at(-1)?.tool_calls?.includes('second');
        return { currentSide, stepCount, sideAStepCount, sideBStepCount, stopped, promptPath, last };
      },
    });
    expect(answers).toEqual([
      1,
      {
        currentSide: 'a',
        stepCount: 2,
        sideAStepCount: 2,
        sideBStepCount: 0,
        stopped: false,
        promptPath: ['main'],
        last: true,
      },
    ]);
  });

  it('[definitions 14.1] messageHistory is the conversation so far, without queued items; within a sub-prompt its own', async () => {
    const history = async (state: ThreadState) => {
      if (state.execution?.promptPath.length === 1) await state.queueMessage({ content: 'later' });
      return state.execution?.messageHistory.map(({ role, content }) => `${role}: ${content ?? ''}`);
    };
    const again = async (state: ThreadState) => history(state);
    const runtime = await hookRuntime({
      model: scriptedModel([
        calls('look'),
        callsMany([{ name: 'again' }, { name: 'ask', args: {} }]),
        calls('look'),
        says('done'),
      ]),
      hooks: {},
      tools: { look: toolOf(history), again: toolOf(again) },
      prompts: [
        definePrompt({
          name: 'ask',
          toolDescription: 'asks',
          prompt: 'You ask.',
          model: 'scripted',
          tools: ['look'],
        }),
      ],
      prompt: { tools: ['look', 'again', 'ask'] },
    });
    const { messages } = await runtime.client.getMessages(await runtime.start('go'), { maxDepth: 1 });
    const results = messages.filter(({ role, name }) => role === 'tool' && name !== 'ask');
    expect(results.map(({ content }) => JSON.parse(content ?? ''))).toEqual([
      ['user: go', 'assistant: '],
      ['user: go', 'assistant: ', expect.stringMatching(/^tool: /), 'user: later', 'assistant: '],
      ['assistant: '],
    ]);
  });

  it('[threadstate execution] stop ends the execution after the step, whatever its other calls', async () => {
    const runtime = await testRuntime({
      model: scriptedModel([calls('halt')]),
      tools: {
        halt: toolOf(({ execution }) => {
          execution?.stop();
          return [execution?.stopped, execution?.stoppedBy];
        }),
      },
    });
    const threadId = await runtime.start('go');
    expect(await toolAnswers(runtime, threadId)).toEqual([[true, 'a']]);
    expect(await runtime.client.getThread(threadId)).toMatchObject({
      status: 'idle',
      stopReason: 'state_stop_session',
    });
  });

  it('[threadstate execution] forceTurn yields the turn to the person, or keeps it', async () => {
    const runtime = await testRuntime({
      model: scriptedModel([calls('yield_turn'), calls('keep'), says('done')]),
      tools: {
        yield_turn: toolOf(({ execution }) => execution?.forceTurn('b')),
        keep: toolOf(({ execution }) => execution?.forceTurn('a')),
      },
      side: { stopTool: 'keep' },
    });
    const threadId = await runtime.start('go');
    expect((await runtime.client.getThread(threadId)).stopReason).toBe('forced_human_turn');
    await runtime.say(threadId, 'again');
    expect((await runtime.client.getThread(threadId)).stopReason).toBe('stop_on_response');
  });
});

describe('ThreadState: resource loading', () => {
  it('[threadstate loading] definitions are loaded by name, and a missing one is reported with the available names', async () => {
    const { answers } = await work({
      load: async (state) => [
        (await state.loadModel('scripted')).model,
        (await state.loadPrompt('main')).toolDescription,
        (await state.loadAgent('helper')).type,
        [state.getModelNames(), state.getPromptNames(), state.getAgentNames()],
        await codeOf(() => state.loadPrompt('mian')),
      ],
    });
    expect(answers).toEqual([
      [
        'scripted-1',
        'the main prompt',
        'ai_human',
        [['scripted'], ['main'], ['helper']],
        'DefinitionNotFound',
      ],
    ]);
  });

  it('[threadstate loading] loaded definitions are as the author wrote them, with defaults, and immutable', async () => {
    const { answers } = await work(
      {
        load: async (state) => {
          const { prompt, tools, env, toolChoice } = await state.loadPrompt('main');
          const { sideA } = await state.loadAgent('helper');
          const change = (target: object) => codeOf(() => Object.assign(target, { changed: true }));
          return {
            prompt,
            tools,
            env,
            toolChoice,
            sideA,
            frozen: [await change(sideA), await change(tools), await change(env)],
          };
        },
      },
      { prompt: { tools: [{ name: 'load', options: { n: 1 } }] }, side: { sessionStatus: 'load' } },
    );
    const frozen = expect.stringContaining('not extensible') as unknown;
    expect(answers).toEqual([
      {
        prompt: 'You help.',
        tools: [{ name: 'load', options: { n: 1 } }],
        env: {},
        toolChoice: 'auto',
        sideA: { prompt: 'main', stopOnResponse: true, sessionStatus: 'load' },
        frozen: [frozen, frozen, frozen],
      },
    ]);
  });
});

describe('ThreadState: utilities', () => {
  it('[threadstate utilities] emit notifies listeners in order, drops values that are not JSON, and data above 64 KiB', async () => {
    const { runtime, threadId } = await work({
      emit: (state) => {
        const data = { n: 1 };
        state.emit('progress', data);
        data.n = 2;
        state.emit('progress', data);
        state.emit('broken', {
          toJSON: () => {
            throw new Error('no');
          },
        });
        state.emit('large', 'x'.repeat(70_000));
        state.emit('over', undefined);
      },
    });
    const events = await eventually('four custom events', async () => {
      const found = (await runtime.store.events.read(threadId, 0)).filter(({ type }) => type === 'custom');
      return found.length === 4 ? found : undefined;
    });
    expect(events.map(({ data }) => data)).toEqual([
      { event: 'progress', data: { n: 1 } },
      { event: 'progress', data: { n: 2 } },
      { event: 'large', data: null, omitted: 70_027 },
      { event: 'over', data: null },
    ]);
  });

  it('[runtime 12] getLogs returns model calls with usage, tool calls with outcome, and their executions', async () => {
    const { runtime, threadId } = await work({ look: () => 'seen' });
    const logs = await runtime.store.events.getLogs(threadId, { order: 'asc' });
    const shown = logs.map(({ type, data }) => [type, data.event ?? data.name ?? data.model]);
    expect(shown).toEqual([
      ['thread', 'thread.created'],
      ['execution', 'execution.started'],
      ['thread', 'thread.status'],
      ['model_call', 'scripted'],
      ['tool_call', 'look'],
      ['model_call', 'scripted'],
      ['execution', 'execution.ended'],
      ['thread', 'thread.status'],
    ]);
    const execution = logs[1]?.data.executionId;
    expect(logs.filter(({ parent_id: parent }) => parent === execution).map(({ type }) => type)).toEqual([
      'execution',
      'model_call',
      'tool_call',
      'model_call',
      'execution',
    ]);
    expect(logs[3]?.data).toMatchObject({
      state: 'ok',
      usage: expect.objectContaining({ promptTokens: expect.any(Number) }),
      latencyMs: expect.any(Number),
    });
    expect(logs[4]?.data).toMatchObject({ state: 'done', status: 'success', durationMs: expect.any(Number) });
    const newest = await runtime.store.events.getLogs(threadId, { limit: 2 });
    expect(newest.map(({ id }) => id)).toEqual([logs[7]?.id, logs[6]?.id]);
  });

  it('[threadstate utilities] members specific to this runtime are marked', async () => {
    const { answers } = await work({ own: (state) => state._notPackableRuntimeContext });
    expect(answers).toEqual([{ runtime: 'everthread' }]);
  });
});

describe('ThreadState: environment, files, code', () => {
  it('[threadstate environment] env, envType and setEnv: a new variable is a secret unless it is set as text', async () => {
    const { answers } = await work({
      variables: async (state) => {
        await state.setEnv('CITY', 'Marseille', { type: 'text' });
        await state.setEnv('KEY', 'swordfish');
        const types = [await state.envType('CITY'), await state.envType('KEY'), await state.envType('NONE')];
        return [
          await state.env('CITY'),
          await state.env('KEY'),
          types,
          await codeOf(() => state.env('NONE')),
        ];
      },
    });
    expect(answers).toEqual([['Marseille', '[secret KEY]', ['text', 'secret', 'secret'], 'MissingVariable']]);
  });

  it('[threadstate files] files are written, read, listed and found within one thread', async () => {
    const { answers, runtime } = await work({
      write: async (state) => {
        await state.writeFile('/notes/a.txt', 'hello', 'text/plain');
        const bytes = await state.readFile('/notes/a.txt');
        return [
          new TextDecoder().decode(bytes ?? undefined),
          (await state.readdirFile('/notes')).entries.map(({ name }) => name),
          (await state.findFiles('*.txt')).paths,
        ];
      },
    });
    expect(answers).toEqual([['hello', ['a.txt'], ['/notes/a.txt']]]);
    expect((await runtime.client.files(await runtime.start()).find('*')).paths).toEqual([]);
  });

  it('[threadstate code execution] runCode bridges its globals, runs the requested export, and reports', async () => {
    const { answers } = await work({
      run: async (state) => {
        const reported: unknown[] = [];
        await state.writeFile('/notes.txt', 'one two three', 'text/plain');
        const run = state.runCode(
          `
            const text = await readText('/notes.txt');
            report({ length: text.length });
            export function summarize(limit: number) { return text.slice(0, limit); }
          `,
          {
            execute: { fn: 'summarize', args: [7] },
            globals: {
              readText: async (path: string) => {
                const data = await state.readFile(path);
                return data ? new TextDecoder().decode(data) : '';
              },
            },
            report: (value: unknown) => void reported.push(value),
          },
        );
        const { status, result } = await run;
        return { status, result, reported };
      },
    });
    expect(answers).toEqual([{ status: 'success', result: 'one two', reported: [{ length: 13 }] }]);
  });
});
