function solve_l1(instance, answer, C)
% SOLVE_L1  l1 by projected gradient, for Octave and MATLAB, without any toolbox: a .mat file in, a .mat file out.
%
%   solve_l1('problem.mat', 'answer.mat', 1)
%
% Minimises J(mu) = max over alpha of sum(alpha) - sum(mu .* q(alpha)) / 2 over the simplex, whose gradient is -q/2;
% the SVM inside is solved by moving the pair of alphas that violates the optimality conditions most.
  tolerance = 1e-7;
  steps = 2000;
  problem = load(instance);
  kernels = problem.kernels;  % n x n x M
  y = double(problem.y(:));
  weights = ones(size(kernels, 3), 1) / size(kernels, 3);
  [alpha, bias, q, objective] = value_at(kernels, y, C, weights, zeros(size(y)));
  step = 1 / max(norm(q), 1e-12);
  for k = 1:steps
    if (max(q) - weights' * q) / 2 <= tolerance * abs(objective)
      break
    end
    while true
      trial = onto_simplex(weights + step * q / 2);
      move = trial - weights;
      [a, b, p, v] = value_at(kernels, y, C, trial, alpha);
      if v <= objective - q' * move / 2 + move' * move / (2 * step) + 1e-12 * abs(objective)
        break
      end
      step = step / 2;
    end
    weights = trial; alpha = a; bias = b; q = p; objective = v;
    step = 1.5 * step;
  end
  save(answer, 'weights', 'alpha', 'bias', 'objective', '-v7');
end

function [alpha, bias, q, value] = value_at(kernels, y, C, weights, start)
  kernel = zeros(size(kernels, 1));
  for m = 1:numel(weights)
    kernel = kernel + weights(m) * kernels(:, :, m);
  end
  [alpha, bias] = svm(kernel, y, C, start);
  q = zeros(numel(weights), 1);
  for m = 1:numel(weights)
    q(m) = (alpha .* y)' * kernels(:, :, m) * (alpha .* y);
  end
  value = sum(alpha) - weights' * q / 2;
end

function [alpha, bias] = svm(kernel, y, C, alpha)
  f = kernel * (alpha .* y);
  while true
    slack = y - f;
    up = (y > 0 & alpha < C) | (y < 0 & alpha > 0);
    low = (y > 0 & alpha > 0) | (y < 0 & alpha < C);
    raised = slack; raised(~up) = -Inf;
    lowered = slack; lowered(~low) = Inf;
    [most, i] = max(raised);
    [least, j] = min(lowered);
    if most - least <= 1e-9
      bias = (most + least) / 2;
      return
    end
    curvature = max(kernel(i, i) + kernel(j, j) - 2 * kernel(i, j), 1e-12);
    if y(i) > 0, room_i = C - alpha(i); else, room_i = alpha(i); end
    if y(j) > 0, room_j = alpha(j); else, room_j = C - alpha(j); end
    move = min([(most - least) / curvature, room_i, room_j]);
    alpha(i) = min(max(alpha(i) + y(i) * move, 0), C);
    alpha(j) = min(max(alpha(j) - y(j) * move, 0), C);
    f = f + move * (kernel(:, i) - kernel(:, j));
  end
end

function v = onto_simplex(v)
  down = sort(v, 'descend');
  levels = (cumsum(down) - 1) ./ (1:numel(v))';
  v = max(v - levels(find(down > levels, 1, 'last')), 0);
end
