/** definitions §7.1: calls of session tools, whose arguments become their result. */
import { describe, expect, it } from '@jest/globals';
import { defineHook } from '../../src/definitions/index.ts';
import { calls, says } from '../../src/testing/index.ts';
import { cast, childrenOf, familyRuntime, lastResult } from '../support/subagent-project.ts';

const OK = says('ok');

describe('definitions §7.1 Session tools', () => {
  it('[definitions 7.1] missing files make the call an error, and the session continues', async () => {
    const actors = cast({
      main: [calls('scout'), OK],
      scout_a: [
        calls('finish', { text: 'here', files: ['/attachments/none.txt'] }),
        calls('finish', { text: 'here', files: ['/somewhere/else.txt'] }),
        calls('finish', { text: 'without', files: [] }),
      ],
    });
    const runtime = await familyRuntime({ cast: actors, entries: ['scout'] });
    const thread = await runtime.start('go');
    expect((await lastResult(runtime, thread))?.content).toBe('without');
    const [child] = await childrenOf(runtime, thread);
    const results = (await runtime.messages(child?.threadId as string)).filter(({ role }) => role === 'tool');
    expect(results.map(({ tool_status: status }) => status)).toEqual(['error', 'error', 'success']);
    expect(results[0]?.content).toContain(
      'The session continues, because its files could not be handed over',
    );
  });

  it.each([
    ['a name', { sessionStop: 'finish' }, 'handed in'],
    ['an object', { sessionStop: { name: 'finish', messageProperty: 'text' } }, 'the text'],
    ['the deprecated alias', { endSessionTool: 'finish' }, 'handed in'],
  ])('[definitions 7.1] a binding may be %s', async (_, binding, result) => {
    const actors = cast({ main: [calls('scout'), OK], scout_a: [calls('finish', { text: 'the text' })] });
    const bare = { sessionStop: undefined, sessionFail: undefined, sessionStatus: undefined };
    const sideA = { prompt: 'scout_a', ...bare, ...binding };
    const runtime = await familyRuntime({ cast: actors, entries: ['scout'], agents: { scout: { sideA } } });
    const thread = await runtime.start('go');
    expect((await lastResult(runtime, thread))?.content).toBe(result);
  });

  it('[definitions 12.4] hooks after the binding see its result, and may replace it', async () => {
    const seen: unknown[] = [];
    const louder = defineHook({
      id: 'louder',
      hook: 'before_store_tool_result',
      execute: async (_state, _call, result) => {
        seen.push(result.result);
        return { ...result, result: String(result.result).toUpperCase() };
      },
    });
    const marked = defineHook({
      id: 'marked',
      hook: 'before_create_message',
      execute: async (_state, message) => {
        if (message.role === 'tool') seen.push(message.metadata);
      },
    });
    const actors = cast({ main: [calls('scout'), OK], scout_a: [calls('finish', { text: 'found' })] });
    const runtime = await familyRuntime({
      cast: actors,
      hooks: [louder, marked],
      main: { tools: ['scout'], hooks: ['marked'] },
      prompts: { scout_a: { tools: ['finish'], hooks: ['louder'] } },
    });
    const thread = await runtime.start('go');
    const result = await lastResult(runtime, thread);
    expect(result).toMatchObject({
      content: 'FOUND',
      metadata: { subagent_id: expect.any(String) as unknown },
    });
    expect(seen).toEqual(['found', result?.metadata]);
  });
});
