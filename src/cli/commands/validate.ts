/** `everthread validate`: all problems of a project's definitions at once. */
import type { AgentDefinition } from '../../core/author/definition.ts';
import { escapeControls } from '../../core/value/shown-text.ts';
import { command } from '../command.ts';
import { EXIT } from '../exit.ts';
import { note, printJson, printLine, tone } from '../output/output.ts';

export const validate = command({
  envFile: 'quiet',
  description:
    'Loads agents/{agents,prompts,models,tools,hooks,effects,policies,mcp,a2a,api} and prints every problem with its file, line and field. ' +
    'Nothing is run and no server is needed. With --json: { ok, agents, prompts, models, tools, hooks, effects, policies, ' +
    'mcpServers, a2aAgents, endpoints, prices, about, problems, warnings }; about contains for each agent its title, description, icon, labels of its sides, package and guards.',
  async run({ project, json }) {
    const { formatProblems, loadProject, ownToolNames, pricesOf } = await import(
      '../../definitions/index.ts'
    );
    const { registry, problems, warnings } = await loadProject(project);
    const ok = problems.length === 0;
    const names = {
      agents: [...registry.agents.keys()],
      prompts: [...registry.prompts.keys()],
      models: [...registry.models.keys()],
      tools: ownToolNames(registry),
      hooks: [...registry.hooks.keys()],
      effects: [...registry.effects.keys()],
      policies: [...registry.policies.keys()],
      mcpServers: [...registry.mcpServers.keys()],
      a2aAgents: [...registry.a2aAgents.keys()],
      endpoints: [...registry.endpoints.keys()],
    };
    const prices = [...registry.models.values()].map((model) => ({
      model: model.name,
      price: pricesOf(model) ?? null,
    }));
    if (json) {
      printJson({
        ok,
        ...names,
        prices,
        about: [...registry.agents.values()].map(toAbout),
        problems,
        warnings,
      });
      return ok ? EXIT.done : EXIT.usage;
    }
    if (warnings.length > 0)
      note(`${tone('yellow', 'Warnings:', process.stderr)}\n${escapeControls(formatProblems(warnings))}\n`);
    if (ok) {
      const { hooks, effects, policies, mcpServers, a2aAgents, endpoints, ...needed } = names;
      // Kinds that every project has are counted even when there are none.
      const counts = [
        ...Object.entries(needed),
        ...Object.entries({
          hooks,
          effects,
          policies,
          'MCP servers': mcpServers,
          'A2A agents': a2aAgents,
          endpoints,
        }).filter(([, { length }]) => length > 0),
      ];
      printLine(
        `${counts.map(([words, { length }]) => count(length, words.slice(0, -1))).join(', ')}: no problems`,
      );
      for (const { model, price } of prices)
        if (price?.date !== undefined)
          printLine(
            `${model}: $${price.inputPrice} in, $${price.outputPrice} out per million tokens (${price.source}, ${price.date})`,
          );
      return EXIT.done;
    }
    // The result of this command, so it goes to standard output.
    printLine(`${escapeControls(formatProblems(problems))}\n\n${count(problems.length, 'problem')}`);
    return EXIT.usage;
  },
});

/** Returns an agent's description of itself, for programs that display it. */
function toAbout(agent: AgentDefinition) {
  const { name, type, title, description, icon, sideA, sideB } = agent;
  const { packageName, version, author, license, tags, guards } = agent;
  const labels = { sideA: sideA.label, sideB: sideB?.label };
  return {
    name,
    type,
    title,
    description,
    icon,
    labels,
    packageName,
    version,
    author,
    license,
    tags,
    guards,
  };
}

function count(number: number, word: string): string {
  if (word === 'policie') return `${number} ${number === 1 ? 'policy' : 'policies'}`;
  return `${number} ${word}${number === 1 ? '' : 's'}`;
}
