/** runtime §15: the chapter's summary, shown on one family at work. Its parts have separate tests. */
import { describe, expect, it } from '@jest/globals';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, says } from '../../src/testing/index.ts';
import { cast, childrenOf, familyRuntime, lastResult } from '../support/subagent-project.ts';

describe('runtime §15 Conformance Summary', () => {
  it('[runtime 15] a family keeps one flow per thread, tool order, results first, queued messages, copied files, code, values', async () => {
    const seen: string[] = [];
    const note = defineTool({
      description: 'works',
      async execute(state) {
        const { status, result } = await state.runCode('export default 6 * 7');
        seen.push(`${status} ${result} ${await state.getValue('own')}`);
        await state.setValue('own', state.threadId);
        // Everything before this call is stored by now.
        const { messages } = await state.getMessages({ includeSilent: true });
        seen.push(messages.at(-1)?.name ?? messages.at(-1)?.role ?? '');
        return { status: 'success', result: 'noted' };
      },
    });
    const actors = cast({
      main: [
        callsMany([
          { name: 'keep', args: { name: 'in.txt', text: 'for you' } },
          { name: 'note' },
          { name: 'scout', args: {} },
        ]),
        says('done'),
        says('and on'),
      ],
      scout_a: [
        callsMany([{ name: 'note' }, { name: 'keep', args: { name: 'out.txt', text: 'for all' } }]),
        calls('finish', { text: 'here', files: '/attachments/out.txt' }),
      ],
    });
    const chat = { includeChat: true, includePastTools: true, tools: ['note', 'keep', 'finish'] };
    const runtime = await familyRuntime({
      cast: actors,
      entries: ['note', { name: 'scout' }],
      tools: { note },
      prompts: { scout_a: chat },
    });
    const { client } = runtime;
    const { threadId: thread } = await client.startThread({
      agent: 'helper',
      messages: [{ content: 'one' }, { content: 'two' }],
    });
    await client.waitForIdle(thread);
    await runtime.say(thread, 'three');
    const [child] = await childrenOf(runtime, thread);
    // Each thread has its own values, and a result is stored before the next tool runs.
    expect(seen).toEqual(['success 42 null', 'keep', 'success 42 null', 'assistant']);
    expect(await runtime.transcript(thread)).toEqual([
      'user: one',
      'user: two',
      'assistant:  -> keep, note, scout',
      'tool keep success: kept in.txt',
      'tool note success: noted',
      'tool scout success: here',
      'assistant: done',
      'user: three',
      'assistant: and on',
    ]);
    const result = (await runtime.messages(thread)).find(({ name }) => name === 'scout');
    const path = result?.attachments?.[0]?.path as string;
    expect(path).not.toBe('/attachments/out.txt');
    expect(new TextDecoder().decode((await client.files(thread).read(path)) ?? undefined)).toBe('for all');
    expect(await lastResult(runtime, thread)).toMatchObject({ tool_status: 'success' });
    for (const id of [thread, child?.threadId as string]) {
      expect(await client.values(id).get('own')).toBe(id);
      const events = await runtime.store.events.read(id, 0, 10_000);
      const ended = events.filter((event) => event.type === 'execution.ended').map(({ data }) => data.reason);
      expect(ended[0]).toBe(id === thread ? 'stop_on_response' : 'session_stop');
      let open = 0;
      for (const { type } of events) {
        if (type === 'step.started') open += 1;
        if (type === 'step.committed') open -= 1;
        expect(open).toBeLessThan(2);
      }
    }
  });
});
