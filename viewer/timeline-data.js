// timeline-data.js: the questions of the timeline: about which trace, which range of time, how it is stacked, and about
// which other trace if two are compared.

// Returns the traces to compare, of which one is drawn as a line; null if nothing is compared, or two moments are.
export function comparedWith(s, traces) {
  if (s.view !== "diff" || traces.length < 2 || s.before === s.after || (s.moments && s.a && s.b)) return null;
  const [line, whole] = s.trace === s.before ? ["after", "before"] : ["before", "after"];
  return { trace: s[whole], name: whole, other: s[line], otherName: line };
}

// Returns the parameters of `timeline`: `own`, and `other` if two traces are compared.
export function timelineQuestions(s, traces) {
  const [from, to] = s.stretch.split("..");
  const shared = { filter: s.filter, from: from || undefined, to: to || undefined };
  const compared = comparedWith(s, traces), own = compared ? compared.trace : s.trace;
  return {
    own: { ...shared, trace: own || undefined, by: s.stack === "heap" ? undefined : s.stack },
    peaks: { trace: own || undefined, filter: s.filter },
    other: compared && { ...shared, trace: compared.other || undefined },
    names: compared && [compared.name, compared.otherName],
  };
}

// Identifies the questions, so that a change can be noticed.
export const timelineKey = (s, traces) => JSON.stringify(timelineQuestions(s, traces));
