/** `everthread actions …`: calls that a policy has judged, and the reconciliation of those whose outcome is unknown. */
import { type Command, Option } from 'commander';
import { StoredActions } from '../../client/stored-actions.ts';
import { ACTION_STATES, type ActionState } from '../../core/governance/agent-policy.ts';
import { errorMessage } from '../../core/value/error.ts';
import type { Wait } from '../../store/port/wait.ts';
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
    .summary('look after calls whose outcome is unknown: see "everthread actions --help"')
    .description(
      "An action is a call that its agent's policy has judged. Where a worker was lost while a tool ran, nobody knows whether the tool " +
        'has acted: its action is uncertain until somebody says.',
    );
  const list = actions
    .command('list')
    .summary('list uncertain actions')
    .description('Lists actions, the newest first. With --json: { actions }.')
    .argument('[thread]', 'only those of this thread')
    .addOption(
      new Option('--state <state>', 'actions in this state')
        .choices([...ACTION_STATES, 'all'])
        .default('uncertain'),
    );
  addCommon(list).action(withExitCode(cli, listActions));
  const reconcile = actions
    .command('reconcile')
    .summary('say what became of one')
    .description(
      'Keeps what became of an uncertain action, once. Nothing is done again. A thread that waits for it goes on; any other has gone on, and ' +
        'the result that its model has read stays.',
    )
    .argument('<action>', 'id of the action')
    .addOption(new Option('--completed', 'it has taken effect').conflicts(['notDone']))
    .addOption(new Option('--not-done', 'it has not taken effect'))
    .option('--note <text>', 'how that is known')
    .option('--by <name>', 'who says so');
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
    if (actions.length === 0) return note(state === 'all' ? 'There is no action.' : `No action is ${state}.`);
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
    note('Say what became of it: --completed, or --not-done.');
    return 2;
  }
  const said = {
    completed: completed === true,
    ...(told === undefined ? {} : { note: told }),
    ...(by === undefined ? {} : { by }),
  };
  const { action, wait } = await withStore(project, (store) => new StoredActions(store).reconcile(id, said));
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
    note(`The thread ${threadId} goes on as soon as a worker looks: ${errorMessage(error)}`);
  }
}
