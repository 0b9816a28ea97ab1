/** Optional subagents: offered and run only while their variable is on (runtime §7.3). */
import { describe, expect, it } from '@jest/globals';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, says } from '../../src/testing/index.ts';
import {
  askedBy,
  type ChildProject,
  childProject,
  handsIn,
  hasResult,
  lastTold,
  modelOf,
} from '../support/child-project.ts';
import { type TestRuntime, testRuntime } from '../support/runtime.ts';
import { toolOf } from '../support/tool-work.ts';

const NO_CHILDREN = { scribe: {}, clerk: {} };

async function run(project: ChildProject): Promise<TestRuntime> {
  return testRuntime({ registry: childProject(project) });
}

describe('an optional subagent', () => {
  const ON = ['true', '1', 'yes', 'TRUE', 'True', 'YES', 'yEs', ' yes '];
  const OFF = ['false', '0', 'no', 'on', 'y', 'truee', '', undefined];

  it('[runtime 7.3] is offered and runs only while its variable is true, 1 or yes', async () => {
    const model = modelOf({
      main: (request) => (hasResult(request) ? says('done') : calls('scribe')),
      scribe_desk: () => handsIn('written'),
    });
    const runtime = await run({
      model,
      entries: [{ name: 'scribe', optional: 'SCRIBES' }],
      children: { scribe: {} },
    });
    const outcomes = await Promise.all(
      [...ON, ...OFF].map(async (value) => {
        const { threadId } = await runtime.client.startThread({
          agent: 'helper',
          messages: [{ content: `the flag is ${value}` }],
          env: value === undefined ? {} : { SCRIBES: { value, type: 'text' } },
        });
        await runtime.client.waitForIdle(threadId);
        const asked = model.requests.find((request) => request.user === threadId);
        const offered = asked?.tools?.some(({ function: tool }) => tool.name === 'scribe') ?? false;
        const [result] = (await runtime.transcript(threadId)).filter((line) => line.startsWith('tool'));
        return { value, offered, result };
      }),
    );
    const refusal = expect.stringMatching(/^tool scribe error: .*SCRIBES/);
    expect(outcomes).toEqual([
      ...ON.map((value) => ({ value, offered: true, result: 'tool scribe success: written' })),
      ...OFF.map((value) => ({ value, offered: false, result: refusal })),
    ]);
  });

  it('[runtime 7.3] is checked at each step and each call, whatever the source of the variable', async () => {
    const off = defineTool({
      description: 'turns it off',
      execute: async (state) => {
        await state.setEnv('SCRIBES', 'no', { type: 'text' });
        return { status: 'success', result: 'off' };
      },
    });
    const model = modelOf({
      main: (request) => {
        if (hasResult(request)) return says('done');
        return lastTold(request) === 'off' ? calls('off') : calls('scribe');
      },
      scribe_desk: () => handsIn('written'),
    });
    const runtime = await run({
      model,
      entries: [{ name: 'scribe', optional: 'SCRIBES' }, 'off'],
      main: { env: { SCRIBES: 'yes' } },
      tools: { off },
      children: { scribe: {} },
    });
    const thread = await runtime.start('first');
    await runtime.say(thread, 'off');
    await runtime.say(thread, 'again');
    const offered = model.requests
      .filter((request) => askedBy(request) === 'main' && !hasResult(request))
      .map(({ tools = [] }) => tools.map(({ function: tool }) => tool.name).includes('scribe'));
    expect(offered).toEqual([true, true, false]);
    const results = (await runtime.transcript(thread)).filter((line) => line.startsWith('tool'));
    expect(results[0]).toBe('tool scribe success: written');
    expect(results[2]).toMatch(/^tool scribe error/);
  });
});

describe('an optional resumable subagent', () => {
  it('[runtime 7.3] cannot get subagent_message while it is off: the tool is hidden and refused', async () => {
    const switchTo = (value: string) => toolOf((state) => state.setEnv('SCRIBES', value, { type: 'text' }));
    let reference = '';
    const model = modelOf({
      main: (request) => {
        if (hasResult(request)) return says('done');
        const told = lastTold(request);
        if (told === 'create')
          return calls('subagent_create', { agent: 'scribe', message: 'x', attachments: [], name: 'x' });
        if (told !== 'speak') return calls(told);
        return calls('subagent_message', { referenceId: reference, message: 'more', attachments: [] });
      },
      scribe_desk: (request) => handsIn(lastTold(request)),
    });
    const resumable = { resumable: { receives_messages: 'side_a' as const } };
    const entries = [
      { name: 'scribe', optional: 'SCRIBES', ...resumable },
      { name: 'clerk', ...resumable },
      'on',
      'off',
    ];
    const runtime = await run({
      model,
      entries,
      main: { env: { SCRIBES: 'yes' } },
      tools: { on: switchTo('yes'), off: switchTo('no') },
      children: NO_CHILDREN,
    });
    const thread = await runtime.start('create');
    reference = (await runtime.store.children.list(thread))[0]?.threadId ?? '';
    for (const told of ['speak', 'off', 'speak', 'on', 'speak']) await runtime.say(thread, told);
    const offered = model.requests
      .filter(
        (request) => askedBy(request) === 'main' && lastTold(request) === 'speak' && !hasResult(request),
      )
      .map(({ tools = [] }) => tools.map(({ function: tool }) => tool.name).includes('subagent_message'));
    expect(offered).toEqual([true, false, true]);
    const results = (await runtime.transcript(thread)).filter((line) =>
      line.startsWith('tool subagent_message'),
    );
    expect(results).toEqual([
      expect.stringMatching(/^tool subagent_message success: more/),
      expect.stringMatching(/^tool subagent_message error: .*"scribe" is not enabled.*SCRIBES/),
      expect.stringMatching(/^tool subagent_message success: more/),
    ]);
  });
});
