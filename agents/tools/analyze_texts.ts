/**
 * The model writes a program, and the program reads the texts: a question about all of them costs one call and no
 * reading. The program is untrusted, so it runs in the sandbox, where `handbook` is all that it can reach.
 */
import { defineTool } from 'everthread';
import { z } from 'zod';
import { findText, listTexts } from './_library.ts';
import { tellEnd } from './_program-end.ts';

const MEMORY_MIB = 32;
/** Models write endless loops; a run has no time limit but this. A stop of the thread ends it sooner. */
const SECONDS = 120;

const handbook = {
  list: async () => (await listTexts()).map(({ file, title }) => ({ file, title })),
  read: async (file: unknown) => {
    const text = await findText(String(file));
    if (text === undefined) throw new Error(`There is no text "${file}". list() names them all.`);
    return text.lines;
  },
};

const EXAMPLE = `import { list, read } from 'handbook';
let lines = 0;
for (const { file } of await list()) lines += (await read(file)).length;
export default lines;`;

/** The program is kept with its result, as a file of the thread. */
const toFile = (source: string) => ({
  name: 'analysis.ts',
  mimeType: 'text/x-typescript',
  data: Buffer.from(source).toString('base64'),
});

export default defineTool({
  description: [
    'Runs a small TypeScript program of yours over the texts of the handbook and answers with what it exports as default',
    '(a value, or a function that is called and may be async): for questions that need counting, comparing or sorting.',
    "It can import one module, 'handbook': list(): Promise<{ file, title }[]> and read(file): Promise<string[]>, the",
    'lines of a text. There is nothing else: no other imports, no files, no network, no timers, no Node. console.log',
    `is shown to you. Limits: ${MEMORY_MIB} MiB, ${SECONDS} seconds. An example:\n${EXAMPLE}`,
  ].join(' '),
  args: z.object({ source: z.string().min(1).describe('The program, one ES module') }),
  // It reads and changes nothing.
  idempotent: true,
  // Longer than the program's own limit, whose message is more precise.
  timeoutMs: (SECONDS + 30) * 1000,
  async execute(state, { source }) {
    const run = state.runCode(source, {
      filename: 'analysis.ts',
      imports: { handbook },
      memoryLimitBytes: MEMORY_MIB * 1024 * 1024,
    });
    const deadline = setTimeout(() => run.terminate(`Not done after ${SECONDS} seconds.`), SECONDS * 1000);
    try {
      return { ...tellEnd(await run), attachments: [toFile(source)] };
    } finally {
      clearTimeout(deadline);
    }
  },
});
