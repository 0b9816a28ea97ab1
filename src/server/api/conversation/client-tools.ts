/** The tools that a client runs itself, as it offers them with a message. */
import {
  type ClientTool,
  clientToolName,
  parseClientToolName,
  refuseClientTools,
} from '../../../core/project/client-tool.ts';
import { isRecord } from '../../../core/value/record.ts';
import { refuseRequest } from '../problem.ts';

interface GivenTool {
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly parameters?: unknown;
}

/** Throws `InvalidRequest` for tools that an agent cannot call. */
export function readClientTools(tools: readonly GivenTool[]): readonly ClientTool[] {
  const given = tools.map(({ name, description, parameters }) => ({
    name,
    description: description ?? '',
    parameters: isRecord(parameters) ? parameters : { type: 'object', properties: {} },
  }));
  const refusal = refuseClientTools(given);
  return refusal === undefined ? given : refuseRequest(`tools: ${refusal}.`);
}

/** Returns a client's own names of its tools: a long one has a short form wherever a model has called it. */
export function ownNames(tools: readonly ClientTool[]): (told: string) => string {
  const names = new Map(tools.map(({ name }) => [parseClientToolName(clientToolName(name)), name]));
  return (told) => names.get(told) ?? told;
}
