/** `everthread variables …`: the variables for which subagents wait before they can start (runtime §7.5). */
import { StoredVariables } from '../../client/stored-variables.ts';
import { variableProblem } from '../../core/project/env.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { argument, type CommandDefinition, command, parameter, TASK_QUEUE } from '../command.ts';
import { storeCommand } from '../connection/find-store.ts';
import { readVariables } from '../input/read-secret.ts';
import { fieldLines, fieldsText, listing } from '../output/listing.ts';

const REQUEST = argument('id of the request', 'request');

const list = storeCommand({
  summary: "list what a thread's subagents wait for",
  description: 'Lists the open requests of a thread, oldest first. With --json: { requests }.',
  arguments: { thread: argument('id of the parent thread, or its beginning', 'thread') },
  async read(store, { thread }) {
    return listing('requests', await new StoredVariables(store).listVariableRequests(thread), {
      columns: { REQUEST: 'id', AGENT: 'agent', ASKED: 'createdAt', MISSING: 'missing' },
      none: `No subagent of thread ${thread} waits for variables.`,
      plainHeading: true,
    });
  },
});

const show = storeCommand({
  summary: 'show a request',
  description: 'Shows which variables a subagent needs, and which of them are missing. Never a value.',
  arguments: { request: REQUEST },
  async read(store, { request: id }) {
    const request = await new StoredVariables(store).getVariableRequest(id);
    const fields = fieldLines(request, {
      request: 'id',
      thread: 'parentId',
      agent: 'agent',
      needs: 'required',
      missing: 'missing',
      asked: 'createdAt',
      state: ({ childId }) => (childId === null ? 'waits' : `answered: its thread is ${childId}`),
    });
    return { json: request, text: fieldsText(fields) };
  },
});

const provide = command({
  summary: 'provide the values, and start the subagent',
  description:
    'Stores the values for the subagent alone and starts it at once; its answer reaches its parent as a message. The ' +
    'values are read from standard input or asked for without showing them, and never taken from the command line. A ' +
    'request can be answered once.',
  arguments: {
    request: REQUEST,
    names: parameter<readonly string[]>({
      help: 'variables to provide (default: those that are missing)',
      variadic: true,
    }),
  },
  options: TASK_QUEUE,
  help: `
Examples:
  everthread variables provide 4f2a…                    (asks for each, without showing it)
  everthread variables provide 4f2a… API_KEY < key.txt  (all of standard input is its value)
  everthread variables provide 4f2a… < values.txt       (lines NAME=value)`,
  async run({ request: requestId, names, ...common }) {
    // Checked before values are typed.
    for (const name of names) {
      const problem = variableProblem(name, '', undefined);
      if (problem) throw new RuntimeError('InvalidVariable', problem);
    }
    const { withClient } = await import('../connection/open-client.ts');
    return withClient(common, async (client) => {
      const { parentId, missing, childId, agent } = await client.getVariableRequest(requestId);
      // An answered request takes no values; the client reports that, and ensures that its subagent has started.
      const values = childId === null ? await readVariables(names, missing) : {};
      const { childThreadId } = await client.provideVariables(parentId, requestId, values);
      const given = Object.keys(values).join(', ');
      return {
        json: { requestId, threadId: parentId, childThreadId },
        note: `Provided ${given} to the subagent ${agent}, which starts as thread ${childThreadId}.`,
      };
    });
  },
});

export const variableCommands: CommandDefinition = {
  description:
    'A subagent that requires variables which its parent does not pass on waits until they are provided. Its parent ' +
    'gets the id of the request; the values never pass through a conversation, and are encrypted in the store.',
  commands: { list, show, provide },
};
