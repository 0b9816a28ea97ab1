/** The tools that a client runs itself, as it offers them with a message. */
import { type ClientTool, refuseClientTools } from '../../../core/project/client-tool.ts';
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
