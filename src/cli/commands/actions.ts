/** `everthread actions …`: calls that a policy has judged, and the reconciliation of those whose outcome is unknown. */
import { type Command, Option } from 'commander';
import { StoredActions } from '../../client/stored-actions.ts';
import { ACTION_STATES, type ActionState } from '../../core/governance/agent-policy.ts';
import { errorMessage } from '../../core/value/error.ts';
import type { Wait } from '../../store/wait/wait-record.ts';
import { addCommon, addTaskQueue, type Cli, type CommonOptions, GROUPS, withExitCode } from '../command.ts';
import { withStore } from '../connection/find-store.ts';
import { dateAndTime, note, printJson, printLine, toTable } from '../output/output.ts';
import { escapeControls } from '../output/terminal-text.ts';

interface ListOptions extends CommonOptions {
  readonly state: ActionState | 'all';
}

interface ReconcileOptions extends CommonOptions {
  readonly completed?: boolean;
  readonly notDone?: boolean;
  readonly note?: string;
  readonly by?: string;
}

export function addActions(program: Command, cli: Cli): void {
  const actions = program
    .command('actions')
    .helpGroup(GROUPS.talk)
    .summary('reconcile calls whose outcome is unknown: see "everthread actions --help"')
    .description(
      "An action is a call that its agent's policy has judged. If a worker is lost during a tool call, its effect is unknown: the " +
        'action stays uncertain until it is reconciled.',
    );
  const list = actions
    .command('list')
    .summary('list uncertain actions')
    .description('Lists actions, newest first. With --json: { actions }.')
    .argument('[thread]', 'only those of this thread')
    .addOption(
      new Option('--state <state>', 'actions in this state')
        .choices([...ACTION_STATES, 'all'])
        .default('uncertain'),
    );
  addCommon(list).action(withExitCode(cli, listActions));
  const reconcile = actions
    .command('reconcile')
    .summary('record the outcome of an action')
    .description(
      'Stores the outcome of an uncertain action, once. Nothing is executed again. A thread that waits for it continues; any other has continued already, and ' +
        'the result that its model has read does not change.',
    )
    .argument('<action>', 'id of the action')
    .addOption(new Option('--completed', 'it has taken effect').conflicts(['notDone']))
    .addOption(new Option('--not-done', 'it has not taken effect'))
    .option('--note <text>', 'how the outcome is known')
    .option('--by <name>', 'who records it');
  addCommon(addTaskQueue(reconcile)).action(withExitCode(cli, reconcileAction));
}

async function listActions(
  threadId: string | undefined,
  { project, json, state }: ListOptions,
): Promise<undefined> {
  await withStore(project, async (store) => {
    const only = { ...(threadId === undefined ? {} : { threadId }), ...(state === 'all' ? {} : { state }) };
    const actions = await new StoredActions(store).listActions(only);
    if (json) return printJson({ actions });
    if (actions.length === 0)
      return note(state === 'all' ? 'There are no actions.' : `No action is ${state}.`);
    const rows = actions.map(({ id, name, state, requestedAt, capabilities }) => [
      id,
      name,
      state,
      dateAndTime(requestedAt),
      capabilities.join(' '),
    ]);
    printLine(escapeControls(toTable([['ACTION', 'NAME', 'STATE', 'ASKED', 'NEEDS'], ...rows])));
  });
  return undefined;
}

async function reconcileAction(id: string, options: ReconcileOptions): Promise<number | undefined> {
  const { project, json, completed, notDone, note: told, by } = options;
  if (!completed && !notDone) {
    note('Give the outcome: --completed, or --not-done.');
    return 2;
  }
  const reconciliation = {
    completed: completed === true,
    ...(told === undefined ? {} : { note: told }),
    ...(by === undefined ? {} : { by }),
  };
  const { action, wait } = await withStore(project, (store) =>
    new StoredActions(store).reconcile(id, reconciliation),
  );
  if (wait) await repeatAnswer(options, wait);
  if (json) printJson(action);
  else
    note(
      `The action ${id} (${action.name}) is reconciled: it ${completed ? 'has' : 'has not'} taken effect.`,
    );
  return undefined;
}

/**
 * Repeats the stored answer so that the waiting thread receives it. If that fails, its worker finds the answer at its
 * next check.
 */
async function repeatAnswer(options: ReconcileOptions, { id, answer, threadId }: Wait): Promise<void> {
  const { withClient } = await import('../connection/open-client.ts');
  try {
    if (answer) await withClient(options, (client) => client.answerWait(id, answer));
  } catch (error) {
    note(`Thread ${threadId} continues after its worker's next check: ${errorMessage(error)}`);
  }
}
