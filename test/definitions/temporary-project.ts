/** Authors' projects on disk, as `npm init -y` leaves them, for the loader to read. */
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface TemporaryProject {
  readonly folder: string;
  write(files: Readonly<Record<string, string>>): void;
  remove(): void;
}

const { resolve } = createRequire(import.meta.url);

/** `ownZod` gives the project its own copy of the newest or the lowest zod instead of a link to ours. */
export function temporaryProject(
  files: Readonly<Record<string, string>>,
  options: { ownZod?: 'zod' | 'zod-lowest' } = {},
): TemporaryProject {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'everthread-definitions-')));
  const write: TemporaryProject['write'] = (more) => {
    for (const [path, content] of Object.entries(more)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
  };
  write({ 'package.json': JSON.stringify({ name: 'project', type: 'commonjs' }), ...files });
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  const zod = join(folder, 'node_modules', 'zod');
  const zodFolder = dirname(resolve(`${options.ownZod ?? 'zod'}/package.json`));
  if (options.ownZod) cpSync(zodFolder, zod, { recursive: true });
  else symlinkSync(zodFolder, zod);
  return { folder, write, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Valid files; a test replaces the one that it is about. */
export const SOUND: Readonly<Record<string, string>> = {
  'agents/agents/helper.ts': `
import { defineAgent } from 'everthread';
export default defineAgent({ name: 'helper', sideA: { prompt: 'talk' } });
`,
  'agents/prompts/talk.ts': `
import { definePrompt } from 'everthread';
export default definePrompt({
  name: 'talk', toolDescription: 'Talks.', prompt: 'You talk.', model: 'fast', tools: ['search_web'],
});
`,
  'agents/models/fast.ts': `
import { defineModel } from 'everthread';
export default defineModel({ name: 'fast', model: 'x', provider: () => { throw new Error('not called'); } });
`,
  'agents/tools/search_web.ts': `
import { defineTool } from 'everthread';
import { z } from 'zod';
export default defineTool({
  description: 'Searches.',
  args: z.object({ query: z.string(), limit: z.number().default(5).describe('How many') }),
  execute: async (_state, args) => ({ status: 'success', result: args.query }),
});
`,
};
