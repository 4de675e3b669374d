// Continuity's plugin for opencode: copy it to .opencode/plugins/ of the project, or
// to ~/.config/opencode/plugins/. It needs the command `continuity` on the PATH.
//
// It hands opencode's events to `continuity hook opencode`, and puts the question
// that comes back after a compaction into the session. It never throws, and no event
// waits for it longer than LIMIT.
import { spawn } from "node:child_process"

// ASK: after a compaction the agent is asked to restate its decisions.
const ASK = process.env.CONTINUITY_ASK !== "0"
// ACTIVITY: agent.activity is sent too.
const ACTIVITY = process.env.CONTINUITY_ACTIVITY === "1"
const LIMIT = 2500 // ms; the command itself is done after 2 s

// hook runs the command and resolves to what it printed; "" where anything is wrong.
function hook(directory, payload, ...flags) {
  return new Promise((resolve) => {
    try {
      const child = spawn("continuity", ["hook", "opencode", ...flags], {
        cwd: directory,
        stdio: ["pipe", "pipe", "ignore"],
      })
      let output = ""
      const timer = setTimeout(() => child.kill("SIGKILL"), LIMIT)
      child.stdout.on("data", (chunk) => (output += chunk))
      child.stdin.on("error", () => {})
      child.on("error", () => (clearTimeout(timer), resolve("")))
      child.on("close", (code) => (clearTimeout(timer), resolve(code === 0 ? output : "")))
      child.stdin.end(JSON.stringify(payload))
    } catch {
      resolve("")
    }
  })
}

export const Continuity = async ({ client, directory }) => {
  // The compaction that a session is in, by session: opencode says only in the part
  // "compaction" why it compacts, and a failure names no compaction.
  const compactions = new Map()

  const of = (sessionID) => {
    const c = compactions.get(sessionID)
    return c ? { trigger: c.trigger, compaction_id: c.id } : {}
  }

  const ask = async (sessionID, text) => {
    try {
      await client.session.prompt({
        path: { id: sessionID },
        body: { noReply: true, parts: [{ type: "text", text }] },
      })
    } catch {
      // The session may be gone. Nobody is asked then.
    }
  }

  return {
    event: async ({ event }) => {
      const properties = event.properties ?? {}
      const sessionID = properties.sessionID ?? properties.info?.id
      const payload = { hook_event_name: event.type, id: event.id, properties: { sessionID } }
      switch (event.type) {
        case "message.part.updated":
          if (properties.part?.type === "compaction") {
            const { sessionID, messageID, auto } = properties.part
            compactions.set(sessionID, { id: messageID, trigger: auto ? "auto" : "manual", running: false })
          }
          return
        case "session.compacted": {
          const text = await hook(directory, { ...payload, ...of(sessionID) }, ...(ASK ? ["--ask"] : []))
          compactions.delete(sessionID)
          if (text) await ask(sessionID, text)
          return
        }
        case "session.error": {
          const compaction = compactions.get(sessionID)
          if (!compaction?.running) return
          compaction.running = false
          await hook(directory, { ...payload, ...of(sessionID), compacting: true })
          return
        }
        case "session.created":
        case "session.deleted":
          await hook(directory, payload)
          return
        case "session.idle":
          if (ACTIVITY) await hook(directory, payload, "--activity")
          return
      }
    },

    "chat.message": async ({ sessionID }) => {
      if (ACTIVITY) await hook(directory, { hook_event_name: "chat.message", sessionID }, "--activity")
    },

    // opencode waits for this one: the snapshot is taken before the context is gone.
    "experimental.session.compacting": async ({ sessionID }) => {
      const compaction = compactions.get(sessionID)
      if (compaction) compaction.running = true
      await hook(directory, { hook_event_name: "experimental.session.compacting", input: { sessionID }, ...of(sessionID) })
    },
  }
}
