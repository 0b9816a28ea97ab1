/**
 * Finds what a test file leaves behind in the process that its files share: listeners of the process, changed globals,
 * the exit code, the working directory. It is removed, so that later files are unaffected, and reported, because
 * nothing may be left. Listeners that a module registers while it loads may stay, since modules stay loaded; so may new
 * globals.
 */
export function watchProcess() {
  const before = look();
  let listeners = listenersNow();
  return {
    /** Accepts all listeners registered so far: they belong to modules. */
    loaded() {
      listeners = listenersNow();
    },
    /** Restores everything; returns what was left behind. */
    restore() {
      const left = [];
      for (const [event, all] of listenersNow()) {
        const added = all.filter((listener) => !listeners.get(event)?.includes(listener));
        for (const listener of added) process.off(event, listener.listener ?? listener);
        if (added.length > 0) left.push(`${added.length} listeners of the process for '${String(event)}'`);
      }
      const after = look();
      for (const [name, own] of before.globals) {
        const other = after.globals.get(name);
        if (Object.is(own.value, other?.value) && own.get === other?.get) continue;
        left.push(`the global ${name}`);
        Object.defineProperty(globalThis, name, own);
      }
      if (after.exitCode !== before.exitCode) {
        left.push(`the exit code ${after.exitCode}`);
        process.exitCode = before.exitCode;
      }
      if (after.folder !== before.folder) {
        left.push('another working directory');
        process.chdir(before.folder);
      }
      return left;
    },
  };
}

function look() {
  const globals = new Map(
    Reflect.ownKeys(globalThis)
      .filter((name) => typeof name === 'string')
      .map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]),
  );
  return { globals, exitCode: process.exitCode, folder: process.cwd() };
}

const listenersNow = () => new Map(process.eventNames().map((event) => [event, process.rawListeners(event)]));
