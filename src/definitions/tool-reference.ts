/**
 * Checks the entries of a prompt's `tools` (definitions §6.3, §13.1): each name resolves, its fields apply to the kind
 * of the named definition, and the arguments that they name exist.
 */

import type { AgentDefinition, PromptDefinition, PromptToolEntry } from '../core/author/definition.ts';
import { A2A_PREFIX } from '../core/project/a2a-agent.ts';
import { type Callee, findCallee } from '../core/project/callee.ts';
import { MAX_NAME_CHARS, MCP_PREFIX, PROVIDER_NAME } from '../core/project/mcp-tool.ts';
import { TASK_PREFIX } from '../core/project/task-tool.ts';
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

const INIT_FIELDS = ['initUserMessageProperty', 'initAttachmentsProperty', 'initAgentNameProperty'] as const;
const SUBPROMPT_FIELDS = ['includeTextResponse', 'includeToolCalls', 'includeErrors'];
const SUBAGENT_FIELDS = [
  'blocking',
  'parallel',
  'immediate',
  'optional',
  'resumable',
  'initAgentNameProperty',
];
const SEED_FIELDS = ['initUserMessageProperty', 'initAttachmentsProperty'];

/** What an entry's name may refer to, with the fields that then apply. */
const TARGET_FIELDS = {
  tool: { what: 'a tool', fields: [] as string[] },
  prompt: { what: 'a prompt', fields: [...SUBPROMPT_FIELDS, ...SEED_FIELDS] },
  ai_human: { what: 'an ai_human agent (a handoff)', fields: SEED_FIELDS },
  dual_ai: { what: 'a dual_ai agent (a subagent)', fields: [...SUBAGENT_FIELDS, ...SEED_FIELDS] },
} as const;

export function checkToolEntries(scope: Scope, prompt: PromptDefinition): Findings {
  const found = prompt.tools.map((entry, index) => checkEntry(scope, prompt, entry, `tools[${index}]`));
  return joinFindings([...found, toFindings(checkDuplicates(prompt))]);
}

function checkEntry(scope: Scope, prompt: PromptDefinition, entry: PromptToolEntry, field: string): Findings {
  const target = findCallee(scope, entry.name);
  if (target === undefined) return checkUnresolved(scope, prompt, entry, field);
  return {
    problems: [
      ...checkTargetFields(entry, target, field),
      ...checkExposed(entry, target, field),
      ...checkOffered(entry, target, field),
      ...checkParallel(entry, field),
      ...checkInitProperties(scope, entry, target, field),
    ],
    warnings: warnShared(scope, entry, target, field),
  };
}

/** Warns if a prompt and an agent share the name, which is allowed: a call can mean only one of them. */
function warnShared(scope: Scope, entry: PromptToolEntry, target: Callee, field: string): FieldProblem[] {
  const { name } = entry;
  if (target.kind === 'tool' || !scope.agents.has(name) || !scope.prompts.has(name)) return [];
  const why =
    target.kind === 'agent'
      ? `means the agent '${name}', which sets exposeAsTool, and not the prompt of that name`
      : `means the prompt '${name}', and not the agent of that name: to call the agent, set its exposeAsTool`;
  return [{ field: `${field}.name`, message: why }];
}

/**
 * Checks a name that no definition has: a prefixed name, a tool of the model's provider, directly or as
 * `provider:<name>`, or a tool that comes with a subagent. What a provider lists itself (`getTools`) is known only at
 * run time.
 */
function checkUnresolved(
  scope: Scope,
  prompt: PromptDefinition,
  entry: PromptToolEntry,
  field: string,
): Findings {
  if (entry.mcp || entry.name.startsWith(MCP_PREFIX)) return toFindings(checkMcpName(scope, entry, field));
  if (entry.a2a !== undefined || entry.name.startsWith(A2A_PREFIX))
    return toFindings(checkA2aName(scope, entry, field));
  if (entry.task !== undefined || entry.name.startsWith(TASK_PREFIX))
    return toFindings(checkName(scope, `${field}.name`, 'a task', entry.task ?? '', scope.tasks.keys()));
  const offered = providerToolNames(scope, scope.models.get(prompt.model));
  if (scope.unavailable.has(prompt.model)) return NO_FINDINGS;
  const prefixed = offered.map((name) => PREFIX + name);
  if (entry.name.startsWith(PREFIX) && !prefixed.includes(entry.name)) {
    const message = `is '${entry.name}', which no model of the prompt lists in providerTools: it is offered only if the provider lists it at run time`;
    return { problems: [], warnings: [{ field: `${field}.name`, message }] };
  }
  const known = [...callableNames(scope), ...offered, ...prefixed, ...LIFECYCLE_TOOLS];
  return toFindings(checkName(scope, `${field}.name`, 'a tool, prompt or agent', entry.name, known));
}

const PREFIX = 'provider:';

function checkMcpName(scope: Scope, { name, mcp }: PromptToolEntry, field: string): FieldProblem[] {
  if (mcp) return checkName(scope, `${field}.name`, 'an MCP server', mcp.server, scope.mcpServers.keys());
  const message = `is '${name}', which is not a tool of an MCP server: write mcp:<server>/<tool>, with letters, digits, _, - and dots`;
  return [{ field: `${field}.name`, message }];
}

function checkA2aName(scope: Scope, { name, a2a }: PromptToolEntry, field: string): FieldProblem[] {
  if (a2a !== undefined)
    return checkName(scope, `${field}.name`, 'an A2A agent', a2a, scope.a2aAgents.keys());
  const message = `is '${name}', which is not an A2A agent: write a2a:<name>, with letters, digits, _ and -`;
  return [{ field: `${field}.name`, message }];
}

function checkTargetFields(entry: PromptToolEntry, target: Callee, field: string): FieldProblem[] {
  const { what, fields } = TARGET_FIELDS[target.kind === 'agent' ? target.type : target.kind];
  const given = Object.keys(entry.extra).filter((name) => entry.extra[name] !== undefined);
  return given
    .filter((name) => !fields.includes(name))
    .map((name) => ({ field: `${field}.${name}`, message: `does not apply: '${entry.name}' is ${what}` }));
}

function checkExposed(entry: PromptToolEntry, target: Callee, field: string): FieldProblem[] {
  if (target.kind !== 'agent' || target.type !== 'dual_ai' || target.exposeAsTool) return [];
  const message = `names the agent '${entry.name}', which must set exposeAsTool: true to be a subagent`;
  return [{ field: `${field}.name`, message }];
}

/** Models call a prompt or an agent by its name, except for an agent that they reach through `subagent_create`. */
function checkOffered({ name, extra }: PromptToolEntry, target: Callee, field: string): FieldProblem[] {
  if (target.kind === 'tool' || extra.resumable || PROVIDER_NAME.test(name)) return [];
  const message = `offers the ${target.kind} '${name}' by a name that not every provider accepts: use 1 to ${MAX_NAME_CHARS} letters of ASCII, digits, _ and -, starting with a letter`;
  return [{ field: `${field}.name`, message }];
}

/** The results of calls that run beside each other are the children's reports, and each has a child of its own. */
function checkParallel({ extra }: PromptToolEntry, field: string): FieldProblem[] {
  if (extra.parallel !== true || (extra.blocking !== false && !extra.resumable)) return [];
  const why = extra.resumable
    ? 'but a resumable subagent is called through subagent_create and subagent_message, which run one after another: leave out one of the two'
    : 'but calls that do not block never hold each other up: leave it out, or let them block';
  return [{ field: `${field}.parallel`, message: `is true, ${why}` }];
}

function checkInitProperties(
  scope: Scope,
  entry: PromptToolEntry,
  target: Callee,
  field: string,
): FieldProblem[] {
  const schemaOwner = target.kind === 'agent' ? scope.prompts.get(entryPrompt(target, entry)) : target;
  if (schemaOwner === undefined) return [];
  const known = argumentNames(schemaOwner);
  return INIT_FIELDS.flatMap((name) => {
    const property = entry.extra[name];
    return typeof property === 'string'
      ? checkArgument(`${field}.${name}`, property, schemaOwner, known)
      : [];
  });
}

/**
 * Returns the prompt whose `requiredSchema` applies to an agent: that of the side that receives the parent's messages,
 * else that of side A (§22 item 20).
 */
function entryPrompt(agent: AgentDefinition, entry: PromptToolEntry): string {
  const resumable = entry.extra.resumable as { receives_messages?: string } | false | undefined;
  const toSideB = resumable !== false && resumable?.receives_messages === 'side_b';
  return (toSideB ? agent.sideB : agent.sideA)?.prompt ?? agent.sideA.prompt;
}

function checkDuplicates(prompt: PromptDefinition): FieldProblem[] {
  const first = new Map<string, number>();
  return prompt.tools.flatMap(({ name }, index) => {
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, index);
    if (earlier === undefined) return [];
    return [{ field: `tools[${index}].name`, message: `repeats '${name}' of tools[${earlier}]` }];
  });
}
