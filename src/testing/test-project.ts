/** The project under test: its definitions, with scripts in place of models. */
import { fileURLToPath } from 'node:url';
import { asProjectCode } from '../author/guard/author-run.ts';
import type { ModelDefinition } from '../core/author/definition.ts';
import type { Registry } from '../core/author/registry.ts';
import { RuntimeError } from '../core/value/error.ts';
import { didYouMean, requireProject } from '../definitions/index.ts';
import { type Script, type ScriptedModel, scriptedModel } from './scripted-model.ts';

/** Replaces a model: steps, a function of the request, or a scripted model whose requests the test reads itself. */
export type TestScript = Script | ScriptedModel;
/** One script for all models of the project, or scripts by the names of the models that they replace. */
export type TestScripts = TestScript | Readonly<Record<string, TestScript>>;

export interface TestProject {
  /** The folder that holds `agents/`; the working directory unless one was given. */
  readonly folder: string;
  readonly registry: Registry;
}

/** Throws `InvalidDefinitions` with every problem. */
export async function openTestProject(project: string | URL | Registry = '.'): Promise<TestProject> {
  if (typeof project === 'object' && 'agents' in project) return { folder: process.cwd(), registry: project };
  const folder = project instanceof URL ? fileURLToPath(project) : project;
  const { registry } = await asProjectCode(() => requireProject(folder));
  return { folder, registry };
}

export interface ScriptedProject {
  readonly registry: Registry;
  /** The scripted models in use, each once. */
  readonly models: readonly ScriptedModel[];
}

/** Throws `DefinitionNotFound` for a model that the project does not have. */
export function withScripts(registry: Registry, scripts: TestScripts): ScriptedProject {
  const names = [...registry.models.keys()];
  if (isScript(scripts)) {
    const model = toModel(scripts);
    return replace(registry, new Map(names.map((name) => [name, model])));
  }
  const given = new Map(Object.entries(scripts).map(([name, script]) => [name, toModel(script)]));
  for (const name of given.keys()) if (!registry.models.has(name)) throw notFound('model', name, names);
  return replace(registry, given);
}

/** The named agent, or the project's only one if none is named. Throws `AgentNotFound` otherwise. */
export function chooseAgent({ agents }: Registry, name?: string): string {
  const names = [...agents.keys()];
  const [only] = names;
  if (name === undefined && only !== undefined && names.length === 1) return only;
  if (name !== undefined && agents.has(name)) return name;
  if (name !== undefined) throw notFound('agent', name, names);
  const which = names.length === 0 ? 'It has none.' : `It has ${names.join(', ')}: select one with "agent".`;
  throw new RuntimeError('AgentNotFound', `The project does not have exactly one agent. ${which}`);
}

function isScript(scripts: TestScripts): scripts is TestScript {
  return typeof scripts === 'function' || Array.isArray(scripts) || isModel(scripts);
}

function isModel(script: object): script is ScriptedModel {
  return 'assertConsumed' in script && typeof script.assertConsumed === 'function';
}

function toModel(script: TestScript): ScriptedModel {
  return typeof script === 'object' && isModel(script) ? script : scriptedModel(script);
}

function replace(registry: Registry, scripted: ReadonlyMap<string, ScriptedModel>): ScriptedProject {
  const models = [...registry.models].map(([name, model]): [string, ModelDefinition] => {
    const script = scripted.get(name);
    return [name, script ? { ...model, provider: script.provider } : model];
  });
  return { registry: { ...registry, models: new Map(models) }, models: [...new Set(scripted.values())] };
}

function notFound(kind: 'agent' | 'model', name: string, names: readonly string[]): RuntimeError {
  const meant = didYouMean(name, [...names]) || ` It has: ${names.join(', ') || 'none'}.`;
  const code = kind === 'agent' ? 'AgentNotFound' : 'DefinitionNotFound';
  return new RuntimeError(code, `The project has no ${kind} "${name}".${meant}`);
}
