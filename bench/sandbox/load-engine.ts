import type { Engine, EngineName } from './engine.ts';

/** Loads an engine's code and returns a function that sets the engine up. Only requested engines are loaded. */
export async function loadEngine(name: EngineName): Promise<() => Promise<Engine>> {
  if (name === 'everthread') return (await import('./engines/everthread.ts')).openEverthread;
  if (name === 'quickjs') return (await import('./engines/quickjs.ts')).openQuickjs;
  if (name === 'vm') return (await import('./engines/vm.ts')).openVm;
  return (await import('./engines/worker.ts')).openWorker;
}
