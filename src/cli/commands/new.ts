/** `everthread new`: a small project that works immediately, with or without a model's key. */
import { relative, resolve } from 'node:path';
import { argument, command } from '../command.ts';
import { showPath } from '../connection/find-store.ts';
import { writeProject } from '../new-project/write-project.ts';
import { printJson, printLine, tone } from '../output/output.ts';
import { readEnvFile } from '../project/env-file.ts';

export const newProject = command({
  description:
    'Writes an agent, its prompt, a model and two tools into a new folder, or into one that contains only what ' +
    '`npm init`, `npm install` and `git init` create. The model is OpenAI if OPENAI_API_KEY is set, and a scripted sample until then.',
  arguments: { dir: argument('the folder; . is the current one') },
  async run({ dir, project, json }) {
    const folder = resolve(project, dir);
    const { files, installed } = writeProject(folder);
    if (json) {
      printJson({ folder, files });
      return undefined;
    }
    readEnvFile(folder);
    const hasKey = Boolean(process.env.OPENAI_API_KEY || process.env.OPENAI_BASE_URL);
    const steps = [
      ...(folder === process.cwd() ? [] : [`cd ${quoteForShell(relative(process.cwd(), folder))}`]),
      ...(installed ? [] : ['npm install']),
      'npx everthread dev',
      'npx everthread chat assistant     (in another terminal)',
    ];
    printLine(`Wrote a project into ${showPath(folder)}:`);
    for (const file of files) printLine(tone('dim', `  ${file}`));
    printLine(
      hasKey
        ? '\nIts model is OpenAI-compatible: it uses the OPENAI_… variables that are set here.'
        : '\nOPENAI_API_KEY is not set, so its model is a sample that follows a script: agents/models/main.ts.\n.env.example shows what a real model needs.',
    );
    printLine(`\nNext:\n${steps.map((step) => `  ${step}`).join('\n')}`);
    return undefined;
  },
});

/** Quotes a path that a shell would read as several words or interpret. */
function quoteForShell(path: string): string {
  return /^[\w./\\:-]+$/.test(path) ? path : `"${path}"`;
}
