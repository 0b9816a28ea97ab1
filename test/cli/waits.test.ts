/** `everthread waits …`: questions and approvals for people, from a shell. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { type CliProject, cliProject, HELPER, seen } from './support.ts';

const FILES: Readonly<Record<string, string>> = {
  ...HELPER,
  'agents/prompts/talk.ts': `
import { definePrompt } from 'everthread';
export default definePrompt({
  name: 'talk', toolDescription: 'Talks.', prompt: 'You talk.', model: 'scripted', tools: ['book'], includeChat: true,
});
`,
  'agents/tools/book.ts': `
import { defineTool } from 'everthread';
export default defineTool({
  description: 'Books a table.',
  asks: true,
  execute: async (state) => {
    const { value, by } = await state.ask({ key: 'name', question: 'For whom?', data: { seats: 2 } });
    return { status: 'success', result: 'booked for ' + value + ' by ' + by };
  },
});
`,
  'agents/models/scripted.ts': `
import { defineModel } from 'everthread';
import { calls, says, scriptedModel } from 'everthread/testing';
const model = scriptedModel(({ messages }) => {
  const last = messages.at(-1);
  return last.role === 'user' ? calls('book') : says(String(last.content));
});
export default defineModel({ name: 'scripted', provider: model.provider, model: 'scripted-1' });
`,
};

describe('everthread waits', () => {
  let project: CliProject;
  beforeAll(async () => {
    project = await cliProject(FILES);
    await seen(project.start(['worker', '--json']), '"event":"ready"');
  });
  afterAll(() => project.remove());

  const run = (args: string[], input = '') => project.run(args, { input });
  const json = async (args: string[]) => JSON.parse((await run([...args, '--json'])).stdout);
  const begin = async (thread: string): Promise<string> => {
    const { code, stderr } = await run(['threads', 'start', 'helper', 'book', '--id', thread, '--wait']);
    if (code !== 0) throw new Error(stderr);
    expect(stderr).toContain('The thread waits for input: question of book: For whom?');
    const { waits } = await json(['waits', 'list', thread]);
    return waits[0].id;
  };
  const rest = (thread: string) =>
    eventually('rest', async () => {
      const { thread: record, messages } = await json(['threads', 'show', thread]);
      return record.status === 'idle' || record.status === 'stopped' ? messages.at(-1).content : undefined;
    });

  it('shows open waits, and answers them', async () => {
    const id = await begin('desk-1');
    expect(await json(['waits', 'list'])).toMatchObject({
      waits: [
        { id, threadId: 'desk-1', kind: 'question', name: 'book', summary: 'For whom?', expiresAt: null },
      ],
    });
    expect((await run(['waits', 'list'])).stdout).toContain('For whom?');
    expect(await json(['waits', 'list', '--older', '0s'])).toMatchObject({ waits: [{ id }] });
    expect(await json(['waits', 'list', '--older', '1d'])).toEqual({ waits: [] });
    expect((await run(['waits', 'show', id])).stdout).toContain('{"seats":2}');
    const sent = await json(['threads', 'send', 'desk-1', 'well?', '--wait']);
    expect(sent).toMatchObject({ status: 'waiting', waits: [{ id }] });
    const answer = ['waits', 'answer', id, '--value', '"ada"', '--by', 'bob'];
    expect(await json(answer)).toEqual({ id, threadId: 'desk-1', outcome: 'taken' });
    expect(await run(answer)).toMatchObject({ code: 0, stderr: expect.stringContaining('already') });
    expect(await run(['waits', 'answer', id, '--deny'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('already_answered'),
    });
    expect((await run(['waits', 'show', id])).stdout).toContain('"value":"ada"');
    const lines = await eventually('the result', async () => {
      const { messages } = await json(['threads', 'show', 'desk-1']);
      const texts = messages.map(({ content }: { content: string | null }) => content);
      return texts.includes('booked for ada by bob') ? texts : undefined;
    });
    expect(lines).toContain('booked for ada by bob');
  });

  it('takes a value from standard input, and refuses invalid input', async () => {
    const id = await begin('desk-2');
    expect((await run(['waits', 'answer', id, '--value-stdin'], 'not json')).code).toBe(2);
    expect((await run(['waits', 'answer', id, '--approve'])).code).toBe(2);
    expect((await run(['waits', 'answer', id, '--value-stdin', '--by', 'bob'], '"eve"\n')).code).toBe(0);
    expect(await rest('desk-2')).toContain('booked for eve by bob');
    const refused = await begin('desk-3');
    expect((await run(['waits', 'answer', refused, '--deny', '--reason', 'no'])).code).toBe(0);
    expect(await rest('desk-3')).toContain('refused: no');
  });

  it('reports the verdict of an answer by its exit code', async () => {
    expect((await run(['waits', 'answer', 'nothing', '--approve'])).code).toBe(3);
    expect((await run(['waits', 'show', 'nothing'])).code).toBe(3);
    expect((await run(['waits', 'list', 'nobody'])).code).toBe(3);
    expect((await run(['waits', 'answer', 'nothing'])).code).toBe(2);
    expect((await run(['waits', 'answer', 'nothing', '--approve', '--deny'])).code).toBe(2);
    expect((await run(['waits', 'answer', 'nothing', '--value', 'ada'])).code).toBe(2);
    expect((await run(['waits', 'list', '--older', 'long'])).code).toBe(2);
    const changing = ['waits', 'answer', 'nothing', '--arguments-file', '-'];
    expect((await run([...changing, '--deny'], '{}')).code).toBe(2);
    expect(await run([...changing, '--approve'], '["a"]')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Standard input is not a JSON object'),
    });
    expect((await run(['waits', 'answer', 'nothing', '--approve', '--arguments-file', 'no.json'])).code).toBe(
      2,
    );
    expect((await run([...changing, '--approve'], '{"a":1}')).code).toBe(3);
    const stopped = await begin('desk-4');
    expect((await run(['threads', 'stop', 'desk-4'])).code).toBe(0);
    await rest('desk-4');
    expect((await run(['waits', 'answer', stopped, '--value', '1'])).code).toBe(1);
    const ended = await begin('desk-5');
    expect((await run(['threads', 'terminate', 'desk-5'])).code).toBe(0);
    expect((await run(['waits', 'answer', ended, '--value', '1'])).code).toBe(3);
    expect(await json(['waits', 'list', '--state', 'closed'])).toMatchObject({
      waits: [{ id: stopped }, { id: ended }],
    });
  });
});
