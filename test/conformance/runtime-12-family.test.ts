/** runtime §12 for subagents: every event of their lifecycle is durable in the log of their parent. */
import { describe, expect, it } from '@jest/globals';
import { SUBAGENT_CREATE, SUBAGENT_MESSAGE } from '../../src/core/project/subagent.ts';
import { calls, callsMany, fails, says } from '../../src/testing/index.ts';
import { told } from '../support/prompt-project.ts';
import { cast, childrenOf, create, familyRuntime, RESUMABLE, settled } from '../support/subagent-project.ts';

const OK = says('ok');

describe('runtime §12 Observability of subagents', () => {
  it('[runtime 12a] create, message, status, return, failure: each is one event that names the child', async () => {
    const actors = cast({
      // Chosen by the last message: a report may arrive before or after the step that answers "ok" to the creation.
      main: (request) => {
        const lines = told(request);
        if (lines.at(-1) === 'user: go') return calls(SUBAGENT_CREATE, create('look'));
        if (lines.at(-1) !== 'user: on') return OK;
        const referenceId = /Reference: (\S+)/.exec(lines.join('\n'))?.[1];
        return calls(SUBAGENT_MESSAGE, { referenceId, message: 'again', attachments: [] });
      },
      scout_a: [
        callsMany([
          { name: 'progress', args: { at: 'half way' } },
          { name: 'finish', args: { text: 'found' } },
        ]),
        fails({ status: 400, message: 'no' }),
      ],
    });
    const entries = [{ name: 'scout', blocking: false, ...RESUMABLE }];
    const runtime = await familyRuntime({ cast: actors, entries });
    const thread = await runtime.start('go');
    await settled(runtime, thread, 1);
    await runtime.say(thread, 'on');
    await settled(runtime, thread, 2);
    const [child] = await childrenOf(runtime, thread);
    const events = await runtime.store.events.read(thread, 0, 10_000);
    const markers = events.filter(({ type }) => type.startsWith('subagent.'));
    expect(markers.map(({ type }) => type)).toEqual([
      'subagent.created',
      'subagent.status',
      'subagent.returned',
      'subagent.messaged',
      'subagent.failed',
    ]);
    expect(new Set(markers.map(({ data }) => 'childId' in data && data.childId))).toEqual(
      new Set([child?.threadId]),
    );
    const logs = (await runtime.store.events.getLogs(thread, { order: 'asc' })).filter(
      ({ type }) => type === 'subagent',
    );
    expect(logs.map(({ data }) => data.childId)).toEqual(
      markers.map(({ data }) => 'childId' in data && data.childId),
    );
    // The outcome of the child's execution is kept in its thread and in the parent's registry.
    expect(await runtime.client.getThread(child?.threadId as string)).toMatchObject({ status: 'failed' });
    expect(child?.status).toBe('failed');
  });
});
