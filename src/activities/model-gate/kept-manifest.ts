/** Stores manifests of agents before an execution names one by its hash, once per project of this process. */
import type { Registry } from '../../core/author/definition.ts';
import type { ThreadStore } from '../../store/store.ts';

/** For each store, the projects whose manifests it already has. */
const STORED_PROJECTS = new WeakMap<ThreadStore, WeakSet<Registry>>();

export async function storeManifests(store: ThreadStore, registry: Registry): Promise<void> {
  const kept = STORED_PROJECTS.get(store) ?? new WeakSet();
  STORED_PROJECTS.set(store, kept);
  if (kept.has(registry)) return;
  for (const { run, hash, document } of registry.manifests.values())
    if (run !== null && registry.agents.has(run)) await store.tasks.keepManifest(hash, document);
  kept.add(registry);
}
