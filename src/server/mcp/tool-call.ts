/**
 * Parameters of an agent's tool: a message, the arguments that the agent declares, and the ids with which a call is
 * continued. `thread` and `execution` override declared arguments of these names; a declared `message` is used both as
 * the message and as an argument.
 */
import type { Tool } from '@modelcontextprotocol/server';
import { FIRST_WORD } from '../../core/project/subagent.ts';
import type { AgentArguments, ApiAgent } from '../api/host.ts';
import type { AgentCall } from './agent-call.ts';

/** Tool names that the protocol recommends; agents with other names are not listed. */
const TOOL_NAME = /^[\w.-]{1,128}$/;

const MESSAGE = { type: 'string', description: 'The message to the agent.' } as const;
const PLACE = {
  thread: {
    type: 'string',
    description:
      'The id of the thread of an earlier call, to continue it. Without a message, the call waits for what the thread is doing.',
  },
  execution: {
    type: 'string',
    description:
      'An id that you choose for this call, new for each message: a call that is repeated with the same id gets the same answer, and is carried out only once.',
  },
} as const;

export function toTools(agents: readonly ApiAgent[]): Tool[] {
  return agents.filter(({ name }) => TOOL_NAME.test(name)).map(toTool);
}

function toTool(agent: ApiAgent): Tool {
  const { name, title, description } = agent;
  return {
    name,
    ...(title === null ? {} : { title }),
    description: description ?? title ?? `Talks to the agent ${name}.`,
    inputSchema: toInput(agent),
  };
}

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** No field is required, because a call with only a thread is valid. Missing ones are reported by the call. */
function toInput({ arguments: declared }: ApiAgent): Tool['inputSchema'] {
  const { properties = {}, $defs } = (declared?.schema ?? {}) as {
    readonly properties?: Readonly<Record<string, object>>;
    readonly $defs?: object;
  };
  return {
    $schema: DIALECT,
    type: 'object',
    properties: { message: MESSAGE, ...properties, ...PLACE },
    ...($defs === undefined ? {} : { $defs }),
    additionalProperties: false,
  } as Tool['inputSchema'];
}

/** Returns the call, or a text that says why there is none. */
export async function toCall(
  agents: readonly ApiAgent[],
  name: string,
  given: Readonly<Record<string, unknown>>,
): Promise<AgentCall | string> {
  const agent = agents.find((each) => each.name === name);
  if (!agent) return `AgentNotFound: There is no agent "${name.slice(0, 128)}".`;
  const { message, thread: threadId, execution: executionId, ...more } = given;
  if (message !== undefined && typeof message !== 'string')
    return 'InvalidMessage: message must be a string.';
  if (threadId !== undefined && typeof threadId !== 'string')
    return 'InvalidMessage: thread must be the id of a thread.';
  if (executionId !== undefined && typeof executionId !== 'string')
    return 'InvalidMessage: execution must be an id, as a string.';
  const known = Object.keys((agent.arguments?.schema.properties ?? {}) as object);
  const unknown = Object.keys(more).find((field) => !known.includes(field));
  if (unknown !== undefined) {
    const names = new Set(['message', ...known, 'thread', 'execution']);
    return `InvalidMessage: A call accepts ${[...names].join(', ')}, but not "${unknown.slice(0, 64)}".`;
  }
  const call = { agent: name, message, threadId, executionId };
  if (threadId === undefined && agent.arguments)
    return withArguments(
      call,
      agent.arguments,
      known.includes('message') && message !== undefined ? { message, ...more } : more,
    );
  return Object.keys(more).length === 0
    ? call
    : 'InvalidMessage: Only a new thread accepts arguments, and this one has begun. Send them as a message.';
}

/** Without a message, the arguments become the message, as JSON, like those of a subagent. */
async function withArguments(
  call: AgentCall,
  declared: AgentArguments,
  given: Readonly<Record<string, unknown>>,
): Promise<AgentCall | string> {
  const checked = await declared.check(given);
  if (!checked.ok) return `InvalidValue: The arguments of "${call.agent}" are invalid: ${checked.problems}.`;
  const { value } = checked;
  const text = Object.keys(value).length > 0 ? JSON.stringify(value) : FIRST_WORD;
  return { ...call, arguments: value, message: call.message ?? text };
}
