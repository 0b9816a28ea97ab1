/**
 * The librarian's tool that runs programs, in a thread of the example project: counts, errors, stops, and its
 * isolation.
 */
import { describe, expect, it } from '@jest/globals';
import { listTexts } from '../../agents/tools/_library.ts';
import { loadProject } from '../../src/definitions/index.ts';
import { cpuMs, isAtRest } from '../support/process-tree.ts';
import { eventually, testRuntime } from '../support/runtime.ts';
import { sandboxChildren } from '../support/sandbox-children.ts';

/** Milliseconds of processor time: twice what a start takes. */
const COMPUTED_MS = 1200;

/** Processes are found in /proc. */
const onLinux = process.platform === 'linux' ? it : it.skip;

describe('analyze_texts', () => {
  it('lets the librarian answer a counting question with the true counts', async () => {
    const { ask } = await librarian();
    const answer = await ask('How many words has each text?');
    const counts = await countWords();
    for (const [file, count] of counts) expect(answer).toContain(`- ${file}: ${count} words`);
    const total = counts.reduce((sum, [, count]) => sum + count, 0);
    expect(answer).toContain(`Together ${total} words in ${counts.length} texts.`);
  });

  it.each([
    ['Which text is the longest?', async () => `The longest text is ${(await countWords()).at(0)?.[0]},`],
    [
      'And the shortest of the texts?',
      async () => `The shortest text is ${(await countWords()).at(-1)?.[0]},`,
    ],
    ['How often does the word "voucher" occur?', () => countWord('voucher')],
  ])('answers %p in a turn of one call', async (question, expected) => {
    const { ask, calledTools } = await librarian();
    expect(await ask(question)).toContain(await expected());
    expect(await calledTools()).toEqual(['analyze_texts']);
  });

  it('reports an error to the model with its location and the program’s output', async () => {
    const { run, lastText } = await librarian();
    const source = [
      "import { list } from 'handbook';",
      "console.log('so many texts', (await list()).length);",
      'const nothing: any = undefined;',
      'export default () => nothing.words;',
    ];
    const { length } = await listTexts();
    const content = await run(source.join('\n'));
    expect(content).toMatch(/error: TypeError: Cannot read properties of undefined .*\(analysis\.ts:4:\d+\)/);
    expect(content).toContain(`Console:\nso many texts ${length}`);
    expect(await lastText()).toContain('The program did not get through.');
  });

  it('advises the model about a program that cannot be parsed or needs too much', async () => {
    const { run } = await librarian();
    expect(await run('export default (')).toMatch(/link_error: SyntaxError: .* \(analysis\.ts:1:\d+\)/);
    expect(await run('const everything = 1;')).toMatch(/link_error: .*must be exported as default/s);
    expect(await run('const all = []; for (;;) all.push(new Array(1000).fill(0.5));')).toMatch(
      /memory: .*keep numbers instead of texts/s,
    );
    // Small in memory, but endless when it is written out.
    const endless = 'let a: unknown = 1; for (let i = 0; i < 60; i++) a = [a, a]; export default a;';
    expect(await run(endless)).toMatch(/longer than \d+ characters.*: export less/);
  });

  it('writes values that JSON lacks as the closest ones', async () => {
    const { run } = await librarian();
    const source =
      'export default { big: 2n ** 64n, map: new Map([["a", new Set([1])]]), wrong: new Error("no"), call() {} };';
    expect(JSON.parse(await run(source))).toEqual({
      big: '18446744073709551616',
      map: [['a', [1]]],
      wrong: 'Error: no',
      call: '(a function)',
    });
  });

  it('reads no file but the texts', async () => {
    const { run } = await librarian();
    for (const file of ['../../package.json', '../tools/_library.ts', '/etc/passwd', './glossary.md', '']) {
      const source = `import { read } from 'handbook';\nexport default await read(${JSON.stringify(file)});`;
      expect(await run(source)).toContain(`error: Error: There is no text "${file}"`);
    }
  });

  it('reaches no module and nothing of Node', async () => {
    const { run } = await librarian();
    expect(
      await run("import { readFileSync } from 'node:fs';\nexport default readFileSync('/etc/passwd');"),
    ).toMatch(/link_error: .*node:fs.*'handbook' alone can be imported/s);
    expect(await run("export default await import('node:fs');")).toMatch(/error: .*node:fs/);
    expect(await run("import library from '../tools/_library.ts';\nexport default library;")).toMatch(
      /link_error: /,
    );
    const kinds = 'export default [typeof process, typeof require, typeof fetch, typeof setTimeout];';
    expect(JSON.parse(await run(kinds))).toEqual(['undefined', 'undefined', 'undefined', 'undefined']);
  });

  onLinux(
    'ends a program that counts for ever with a stop, and the thread answers the next message',
    async () => {
      const { client, threadId, ask } = await librarian();
      await client.queueMessage(threadId, { content: 'Count for ever, please.' });
      const computing = await eventually('a program that computes', () =>
        sandboxChildren().find((pid) => (cpuMs(pid) ?? 0) > COMPUTED_MS),
      );
      await client.stop(threadId, 'enough');
      expect(await client.waitForIdle(threadId)).toMatchObject({ status: 'stopped' });
      await eventually('the program to compute no longer', () => isAtRest(computing));
      expect(await ask('Which text is the longest?')).toContain('The longest text is ');
    },
  );
});

async function librarian() {
  for (const name of ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'EVERTHREAD_DEMO_MODEL_URL'])
    delete process.env[name];
  // No pause between chunks: nobody reads the stream.
  process.env.EVERTHREAD_DEMO_CHUNK_DELAY_MS = '0';
  const { registry } = await loadProject(process.cwd());
  const runtime = await testRuntime({ registry });
  const { client } = runtime;
  const { threadId } = await client.startThread({ agent: 'librarian' });
  const messages = () => runtime.messages(threadId);
  const lastText = async () => (await messages()).at(-1)?.content ?? '';
  return {
    client,
    threadId,
    lastText,
    /** Sends a message; returns the librarian's answer. */
    async ask(content: string): Promise<string> {
      await runtime.say(threadId, content);
      return lastText();
    },
    /** Runs a program as the librarian's call would; returns the result that the model receives. */
    async run(source: string): Promise<string> {
      await client.queueTool(threadId, { name: 'analyze_texts', arguments: { source } });
      await client.waitForIdle(threadId);
      return (await messages()).findLast(({ role }) => role === 'tool')?.content ?? '';
    },
    async calledTools(): Promise<(string | null)[]> {
      return (await messages()).filter(({ role }) => role === 'tool').map(({ name }) => name);
    },
  };
}

/** Counts the words of each text as the program does, but in this process; the largest count first. */
async function countWords(): Promise<[string, number][]> {
  const counts = (await listTexts()).map(({ file, lines }): [string, number] => [
    file,
    lines.join('\n').trim().split(/\s+/).length,
  ]);
  return counts.sort(([, a], [, b]) => b - a);
}

async function countWord(word: string): Promise<string> {
  const text = (await listTexts()).flatMap(({ lines }) => lines).join('\n');
  return `The handbook has "${word}" ${text.match(new RegExp(word, 'gi'))?.length} times.`;
}
