/** runtime §8.2: the result of a child in whose session the session tools of both sides were called. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineTool } from '../../src/definitions/index.ts';
import { callsMany, says } from '../../src/testing/index.ts';
import { cast, create, familyRuntime, RESUMABLE, reportsIn, settled } from '../support/subagent-project.ts';

const approve = defineTool({
  description: 'approves',
  args: z.object({ verdict: z.string() }),
  execute: async () => ({ status: 'success', result: 'approved' }),
});
const FINISH = { name: 'finish', args: { text: 'the work of A' } };
const APPROVE = { name: 'approve', args: { verdict: 'the verdict of B' } };

describe('runtime §8.2 The result of a session', () => {
  // Each side calls the other side's session tool last; for the calling side it is an ordinary tool.
  it.each([
    ['A', { scout_a: [callsMany([FINISH, APPROVE])] }, 'the work of A'],
    ['B', { scout_a: [says('a draft')], scout_b: [callsMany([APPROVE, FINISH])] }, 'the verdict of B'],
  ])(
    '[runtime 8.2] is the mapped payload of the tool that ended it, not of side %s’s other calls',
    async (_side, scripts, expected) => {
      const actors = cast({
        main: (request) =>
          request.messages.at(-1)?.content === 'go'
            ? callsMany([{ name: 'subagent_create', args: create('x') }])
            : says('ok'),
        ...scripts,
      });
      const runtime = await familyRuntime({
        cast: actors,
        entries: [{ name: 'scout', blocking: false, ...RESUMABLE }],
        tools: { approve },
        agents: {
          scout: {
            sideA: { prompt: 'scout_a', sessionFail: undefined },
            sideB: { prompt: 'scout_b', sessionStop: { name: 'approve', messageProperty: 'verdict' } },
          },
        },
        prompts: Object.fromEntries(
          ['scout_a', 'scout_b'].map((name) => [
            name,
            { includeChat: true, tools: ['finish', 'approve', 'progress'] },
          ]),
        ),
      });
      const thread = await runtime.start('go');
      await settled(runtime, thread);
      const [report] = await reportsIn(runtime, thread);
      expect(report?.content?.split('\n\n').slice(1)).toEqual([expected]);
    },
  );
});
