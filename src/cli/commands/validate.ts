/** `everthread validate`: everything that is wrong with a project's definitions, at once. */
import type { Command } from 'commander';
import { act, addCommon, type Cli, type CommonOptions, GROUPS } from '../command.ts';
import { EXIT } from '../exit.ts';
import { note, printJson, printLine, tone } from '../output.ts';
import { visible } from '../terminal-text.ts';

export function addValidate(program: Command, cli: Cli): void {
  const command = program
    .command('validate')
    .helpGroup(GROUPS.project)
    .summary('check the definitions of a project')
    .description(
      'Loads agents/{agents,prompts,models,tools} and prints every problem with its file, line and field. Nothing is ' +
        'run and no server is needed. With --json: { ok, agents, prompts, models, tools, problems, warnings }.',
    );
  addCommon(command).action(act(cli, validateProject));
}

async function validateProject({ project, json }: CommonOptions): Promise<number | undefined> {
  const { formatProblems, loadProject, ownToolNames } = await import('../../definitions/index.ts');
  const { registry, problems, warnings } = await loadProject(project);
  const ok = problems.length === 0;
  const [agents, prompts, models] = [registry.agents, registry.prompts, registry.models].map((all) => [
    ...all.keys(),
  ]);
  const tools = ownToolNames(registry);
  if (json) {
    printJson({ ok, agents, prompts, models, tools, problems, warnings });
    return ok ? EXIT.done : EXIT.usage;
  }
  if (warnings.length > 0)
    note(`${tone('yellow', 'Warnings:', process.stderr)}\n${visible(formatProblems(warnings))}\n`);
  if (ok) {
    const counts = [
      count(registry.agents.size, 'agent'),
      count(registry.prompts.size, 'prompt'),
      count(registry.models.size, 'model'),
      count(tools.length, 'tool'),
    ];
    printLine(`${counts.join(', ')}: no problems`);
    return EXIT.done;
  }
  // The result of this command, so it stands on standard output.
  printLine(`${visible(formatProblems(problems))}\n\n${count(problems.length, 'problem')}`);
  return EXIT.usage;
}

function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`;
}
