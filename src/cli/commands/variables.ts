/** `everthread variables …`: the variables for which subagents wait before they can start (runtime §7.5). */
import type { Command } from 'commander';
import { StoredVariables } from '../../client/stored-variables.ts';
import { variableProblem } from '../../core/project/env.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { VariableRequest } from '../../store/family/variable-request-record.ts';
import { addCommon, addTaskQueue, type Cli, type CommonOptions, GROUPS, withExitCode } from '../command.ts';
import { withStore } from '../connection/find-store.ts';
import { readVariables } from '../input/read-variables.ts';
import { dateAndTime, note, printJson, printLine, toTable } from '../output/output.ts';
import { escapeControls } from '../output/terminal-text.ts';

interface ProvideOptions extends CommonOptions {
  readonly taskQueue?: string;
}

const PROVIDE_HELP = `
Examples:
  everthread variables provide 4f2a…                    (asks for each, without showing it)
  everthread variables provide 4f2a… API_KEY < key.txt  (all of standard input is its value)
  everthread variables provide 4f2a… < values.txt       (lines NAME=value)`;

export function addVariables(program: Command, cli: Cli): void {
  const variables = program
    .command('variables')
    .helpGroup(GROUPS.talk)
    .summary('provide the variables that subagents wait for: see "everthread variables --help"')
    .description(
      'A subagent that requires variables which its parent does not pass on waits until they are provided. Its parent ' +
        'gets the id of the request; the values never pass through a conversation, and are encrypted in the store.',
    );
  const list = variables
    .command('list')
    .summary("list what a thread's subagents wait for")
    .description('Lists the open requests of a thread, oldest first. With --json: { requests }.')
    .argument('<thread>', 'id of the parent thread, or its beginning');
  addCommon(list).action(withExitCode(cli, listRequests));
  const show = variables
    .command('show')
    .summary('show a request')
    .description('Shows which variables a subagent needs, and which of them are missing. Never a value.')
    .argument('<request>', 'id of the request');
  addCommon(show).action(withExitCode(cli, showRequest));
  const provide = variables
    .command('provide')
    .summary('provide the values, and start the subagent')
    .description(
      'Stores the values for the subagent alone and starts it at once; its answer reaches its parent as a message. The ' +
        'values are read from standard input or asked for without showing them, and never taken from the command line. A ' +
        'request can be answered once.',
    )
    .argument('<request>', 'id of the request')
    .argument('[names...]', 'variables to provide (default: those that are missing)')
    .addHelpText('after', PROVIDE_HELP);
  addCommon(addTaskQueue(provide)).action(withExitCode(cli, provideVariables));
}

async function listRequests(threadId: string, { project, json }: CommonOptions): Promise<undefined> {
  await withStore(project, async (store) => {
    const requests = await new StoredVariables(store).listVariableRequests(threadId);
    if (json) return printJson({ requests });
    if (requests.length === 0) return note(`No subagent of thread ${threadId} waits for variables.`);
    const rows = requests.map(({ id, agent, missing, createdAt }) => [
      id,
      agent,
      dateAndTime(createdAt),
      missing.join(' '),
    ]);
    printLine(toTable([['REQUEST', 'AGENT', 'ASKED', 'MISSING'], ...rows]));
  });
  return undefined;
}

async function showRequest(requestId: string, { project, json }: CommonOptions): Promise<undefined> {
  await withStore(project, async (store) => {
    const request = await new StoredVariables(store).getVariableRequest(requestId);
    if (json) return printJson(request);
    printLine(escapeControls(toTable(describe(request))));
  });
  return undefined;
}

function describe({
  id,
  parentId,
  agent,
  required,
  missing,
  createdAt,
  childId,
}: VariableRequest): string[][] {
  return [
    ['request', id],
    ['thread', parentId],
    ['agent', agent],
    ['needs', required.join(' ')],
    ['missing', missing.join(' ')],
    ['asked', dateAndTime(createdAt)],
    ['state', childId === null ? 'waits' : `answered: its thread is ${childId}`],
  ];
}

async function provideVariables(
  requestId: string,
  names: readonly string[],
  { project, json, taskQueue }: ProvideOptions,
): Promise<undefined> {
  // Checked before values are typed.
  for (const name of names) {
    const problem = variableProblem(name, '', undefined);
    if (problem) throw new RuntimeError('InvalidVariable', problem);
  }
  const { withClient } = await import('../connection/open-client.ts');
  await withClient({ project, taskQueue }, async (client) => {
    const { parentId, missing, childId, agent } = await client.getVariableRequest(requestId);
    // An answered request takes no values; the client reports that, and ensures that its subagent has started.
    const values = childId === null ? await readVariables(names, missing) : {};
    const { childThreadId } = await client.provideVariables(parentId, requestId, values);
    if (json) return printJson({ requestId, threadId: parentId, childThreadId });
    const given = Object.keys(values).join(', ');
    note(`Provided ${given} to the subagent ${agent}, which starts as thread ${childThreadId}.`);
  });
  return undefined;
}
