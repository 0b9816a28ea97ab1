/** A project that is replaced while a step runs: each attempt at an activity uses one project throughout. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineHook, defineTool } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { agentOf } from '../support/agent-of.ts';
import { testRuntime } from '../support/runtime.ts';

describe('[runtime 3] a project replaced while a step runs', () => {
  it('is used by the next attempt at an activity, and never within one', async () => {
    const model = scriptedModel([calls('mark', {}), says('done')]);
    const heard: string[] = [];
    const project = (edition: string) => {
      const mark = defineTool({
        description: edition,
        args: z.object({}),
        execute: async () => ({ status: 'success', result: edition }),
      });
      const filter = defineHook({
        id: 'note',
        hook: 'prefilter_llm_history',
        execute: async (_state, messages) => {
          heard.push(edition);
          return messages;
        },
      });
      return agentOf({ scripted: { script: model } }, { prompt: edition }, { mark }, [filter]);
    };
    let looks = 0;
    const runtime = await testRuntime({
      model,
      registry: () => {
        looks += 1;
        return project(`edition ${looks}`);
      },
    });
    const thread = await runtime.start();
    await runtime.say(thread, 'hi');
    const seen = model.requests.map(({ messages, tools = [] }, index) => [
      messages[0]?.content,
      tools[0]?.function.description,
      heard[index],
    ]);
    expect(seen).toHaveLength(2);
    for (const [prompt, ...others] of seen) expect(others).toEqual([prompt, prompt]);
    expect(new Set(seen.map(([prompt]) => prompt)).size).toBe(2);
  });
});
