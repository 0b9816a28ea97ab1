/** Checks that what an agent names exists (definitions §7): prompts, stop tools, session tools and their arguments. */

import type { AgentDefinition, SessionToolBinding, SideDefinition } from '../core/author/definition.ts';
import { findCallee } from '../core/project/callee.ts';
import type { FieldProblem } from './problem.ts';
import {
  argumentNames,
  callableNames,
  checkArgument,
  checkName,
  type Findings,
  joinFindings,
  LIFECYCLE_TOOLS,
  NO_FINDINGS,
  providerToolNames,
  type Scope,
  toFindings,
} from './scope.ts';

export function checkAgentReferences(scope: Scope, agent: AgentDefinition): Findings {
  const sides = [
    ['sideA', agent.sideA],
    ['sideB', agent.type === 'dual_ai' ? agent.sideB : undefined],
  ] as const;
  return joinFindings(
    sides.map(([field, side]) => (side === undefined ? NO_FINDINGS : checkSide(scope, field, side))),
  );
}

function checkSide(scope: Scope, field: string, side: SideDefinition): Findings {
  return joinFindings([
    toFindings(checkName(scope, `${field}.prompt`, 'a prompt', side.prompt, scope.prompts.keys())),
    checkStopTool(scope, field, side),
    ...(['sessionStop', 'sessionFail', 'sessionStatus'] as const).map((name) =>
      checkBinding(scope, `${field}.${name}`, side, side[name]),
    ),
  ]);
}

function checkStopTool(scope: Scope, field: string, side: SideDefinition): Findings {
  if (side.stopTool === undefined) return NO_FINDINGS;
  return checkSideTool(scope, side, `${field}.stopTool`, side.stopTool, {
    [`${field}.stopToolResponseProperty`]: side.stopToolResponseProperty,
  });
}

function checkBinding(
  scope: Scope,
  field: string,
  side: SideDefinition,
  binding: SessionToolBinding | undefined,
): Findings {
  if (binding === undefined) return NO_FINDINGS;
  return checkSideTool(scope, side, `${field}.name`, binding.name, {
    [`${field}.messageProperty`]: binding.messageProperty,
    [`${field}.attachmentsProperty`]: binding.attachmentsProperty,
  });
}

/**
 * Checks that a stop or session tool exists and takes the named arguments. Warns if the side's prompt does not list it.
 */
function checkSideTool(
  scope: Scope,
  side: SideDefinition,
  field: string,
  name: string,
  properties: Readonly<Record<string, string | undefined>>,
): Findings {
  const target = findCallee(scope, name);
  if (target === undefined) return toFindings(checkSideToolName(scope, side, field, name));
  if (target.kind === 'agent') return { problems: [], warnings: warnUnlisted(scope, side, field, name) };
  const known = argumentNames(target);
  return {
    problems: Object.entries(properties).flatMap(([place, property]) =>
      checkArgument(place, property, target, known),
    ),
    warnings: warnUnlisted(scope, side, field, name),
  };
}

function checkSideToolName(scope: Scope, side: SideDefinition, field: string, name: string): FieldProblem[] {
  const model = scope.models.get(scope.prompts.get(side.prompt)?.model ?? '');
  const known = [...callableNames(scope), ...providerToolNames(scope, model), ...LIFECYCLE_TOOLS];
  return checkName(scope, field, 'a tool', name, known);
}

function warnUnlisted(scope: Scope, side: SideDefinition, field: string, name: string): FieldProblem[] {
  const prompt = scope.prompts.get(side.prompt);
  if (prompt === undefined || prompt.tools.some((entry) => entry.name === name)) return [];
  return [
    {
      field,
      message: `is '${name}', which is not among the tools of the prompt '${prompt.name}': its model cannot call it`,
    },
  ];
}
